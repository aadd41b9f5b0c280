"""Fitting a team: from items to a `FitResult`."""

from twoheads.combination.fitting.fit import FitResult, fit_team

__all__ = ["FitResult", "fit_team"]
