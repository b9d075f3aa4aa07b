"""Sums, one solver, and what chooses its parameters: a model without a face."""
