"""Temperature scaling, affine maps, ensembles and binning of log-probabilities."""
