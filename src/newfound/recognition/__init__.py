"""A model, the images it was taught, and its answers."""
