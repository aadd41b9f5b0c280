"""Answers and probabilities in the formats of other projects, in and out; one project per file."""
