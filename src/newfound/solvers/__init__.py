"""Derived from the sums: weights, intercept and leverage."""
