"""Rows in, answers out: one door, one lock, one engine."""
