"""From weights to recoded scores and probabilities; pure."""
