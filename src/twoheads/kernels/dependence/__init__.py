"""Correction for answers that depend on the model: likelihood, mode, posterior; agreement; preference."""
