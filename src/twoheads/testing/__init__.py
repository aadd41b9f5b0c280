"""Contracts that a class of your own must keep, as functions that raise an AssertionError if it does not."""

from twoheads.testing.formats import check_format

__all__ = ["check_format"]
