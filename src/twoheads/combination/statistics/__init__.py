"""Sums over items, and samples of them: all that is needed to continue a fit without the items."""
