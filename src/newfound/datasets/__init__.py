"""Where labelled images and vectors come from."""

from newfound.datasets.digits import digits as digits

__all__ = ["digits"]
