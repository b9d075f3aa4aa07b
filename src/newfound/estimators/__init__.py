"""A model that learns, and its scikit-learn face."""
