"""Between rows and sums: a fixed map of rows, or none."""
