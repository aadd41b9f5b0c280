"""The shapes in which neighbouring projects hold answers and probabilities, in and out; one project per file."""
