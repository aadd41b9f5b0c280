"""What fitting and predicting cost, and how good combinations are on real sets."""
