"""Answers, truth and model rows from separate tables, joined on the item id on disk."""
