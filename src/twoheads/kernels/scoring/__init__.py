"""Scores of probabilities, bounds, mutual information, and the value of one more answer."""
