"""Benchmarks: one script a question."""
