"""Where sums over items run."""
