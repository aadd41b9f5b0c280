"""The correction for models and annotators that err on the same items."""

from twoheads.dependence.dependence import Dependence

__all__ = ["Dependence"]
