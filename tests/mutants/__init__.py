"""Mutation testing: one-line breakages of newfound, and what the tests say of each."""
