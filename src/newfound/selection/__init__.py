"""Penalty and recoding, chosen inside the stream."""
