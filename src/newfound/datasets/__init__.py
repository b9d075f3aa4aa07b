"""Where labelled images and vectors come from."""

from newfound.datasets.digits import digits as digits
from newfound.datasets.folder import folder as folder
from newfound.datasets.icubworld28 import icubworld28 as icubworld28
from newfound.datasets.mnist import mnist as mnist
from newfound.datasets.rgbd import rgbd as rgbd
from newfound.datasets.vectors_file import read_vectors as read_vectors
from newfound.datasets.vectors_file import write_vectors as write_vectors

__all__ = ["digits", "folder", "icubworld28", "mnist", "read_vectors", "rgbd", "write_vectors"]
