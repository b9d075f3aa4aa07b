"""The truth: sums over everything taught, and witnesses beside them."""
