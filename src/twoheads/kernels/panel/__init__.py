"""Panels of related members: a ridge regression on the left-out posterior, and their effective number."""
