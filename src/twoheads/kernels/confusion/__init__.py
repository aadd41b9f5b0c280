"""Confusion matrices: from counts, hierarchical, of each annotator; confidence levels and "unsure"."""
