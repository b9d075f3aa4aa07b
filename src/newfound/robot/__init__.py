"""Recordings, video and live topics: what a robot's camera sends, on its way to a `Recogniser`."""
