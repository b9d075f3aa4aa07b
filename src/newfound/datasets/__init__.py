"""Where labelled images and vectors come from."""
