"""Sizes beyond which nothing is taken, whoever gives it."""

# Characters that a label may have. numpy holds all labels at the width of the longest, four bytes a
# character: with this, a thousand of them take 4 MB at most.
LONGEST_LABEL = 1000
# Bytes of an image's file.
LARGEST_FILE = 256 * 2**20
