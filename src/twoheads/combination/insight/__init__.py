"""Quantities of a fitted team: facts, sentences, explanations, predictions of the next answer."""
