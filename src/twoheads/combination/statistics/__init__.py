"""Sums over items, and samples of them: all that a fit needs of items that are gone."""
