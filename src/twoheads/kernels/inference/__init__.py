"""Intervals that hold: what items with known truth show, narrowed without bias by beliefs about the others.

- `rows`: weighted means and sandwich covariances, by group and cluster
- `prediction_powered`: means, differences and ratios with beliefs about items without truth (PPI++)
- `intervals`: effective counts, and the intervals made of them
- `shrinkage`: groups with few labelled rows, shrunk to the crowd
- `people`: accuracies, sensitivities and specificities from all of these
- `believed`: intervals from beliefs alone, where there is no truth
- `calibration`: what a calibrated forecaster would show, and an interval of the calibration error
- `clustered_independence`: a permutation test that keeps an item's answers together
"""
