"""Confusion estimates: probabilities of a person's answers given the truth, one estimate per file."""

from twoheads.confusion.base import Confusion
from twoheads.confusion.dirichlet import DirichletConfusion
from twoheads.confusion.hierarchical import HierarchicalConfusion
from twoheads.confusion.one_coin import OneCoinConfusion

__all__ = ["Confusion", "DirichletConfusion", "HierarchicalConfusion", "OneCoinConfusion"]
