"""Experiments: how a stream is shown to a learner, and what is measured on the way."""
