"""Where labelled images and vectors come from."""

from newfound.datasets.digits import digits as digits
from newfound.datasets.folder import folder as folder
from newfound.datasets.vectors_file import read_vectors as read_vectors
from newfound.datasets.vectors_file import write_vectors as write_vectors

__all__ = ["digits", "folder", "read_vectors", "write_vectors"]
