from __future__ import annotations

import numpy as np

from twoheads.calibration.identity import Identity


def test_probabilities_stay_as_they_are() -> None:
    model = np.array([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0]])
    calibrator = Identity().fit(model, [0, 2])
    np.testing.assert_allclose(calibrator.predict_proba(model), model, atol=1e-15)
    assert calibrator.n_classes_ == 3


def test_logits_become_probabilities() -> None:
    calibrator = Identity(model_scale="logit").fit([[0.0, np.log(3.0)]], [1])
    np.testing.assert_allclose(calibrator.predict_proba([[5.0, 5.0 + np.log(3.0)]]), [[0.25, 0.75]])
