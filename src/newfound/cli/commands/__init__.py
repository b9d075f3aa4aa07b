"""One command a file: what it takes, what it says."""
