"""scikit-learn's own checks on every combiner and calibrator, and its tools on every form of X."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from twoheads.calibration import (
    DirichletCalibration,
    EnsembleTemperatureScaling,
    Identity,
    IMaxBinning,
    TemperatureScaling,
    VectorScaling,
)
from twoheads.calibration.base import Calibrator
from twoheads.combination import LabelLabelCombiner, LogisticCombiner, ProbabilityLabelCombiner
from twoheads.confusion import DirichletConfusion, OneCoinConfusion
from twoheads.errors import InvalidObservations
from twoheads.observations import Observations

# ------------------------------------------------------------------------------ scikit-learn's common checks


class OnFeatures:
    """Makes observations of scikit-learn's arbitrary features, and is otherwise the estimator it is mixed into.

    The features are the model's logits, repeated with turned sign where there are fewer than classes; the person says
    the class whose logit is the least. What cannot be read so is passed on as it is, for the estimator to refuse.
    """

    def fit(self, X, y=None, sample_weight=None):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        seen = self._seen(X, np.unique(np.asarray(y)))
        super().fit(seen, y, sample_weight)
        validate_data(self, X, skip_check_array=True)
        return self

    def predict(self, X):
        return super().predict(self._seen_again(X))

    def predict_proba(self, X):
        return super().predict_proba(self._seen_again(X))

    def _seen_again(self, X):
        if isinstance(X, Observations) or not hasattr(self, "classes_"):
            return X
        if hasattr(X, "toarray") or np.asarray(X).ndim == 2:
            validate_data(self, X, skip_check_array=True, reset=False)
        return self._seen(X, self.classes_)

    def _seen(self, X, classes):
        if hasattr(X, "toarray"):
            return X
        features = np.asarray(X)
        if features.ndim != 2 or 0 in features.shape or features.dtype.kind not in "biufO":
            return features
        n_classes = len(classes)
        at = np.arange(n_classes)
        logits = features[:, at % features.shape[1]]
        if n_classes > features.shape[1]:
            logits[:, features.shape[1] :] *= -1
        known = isinstance(self, Calibrator) or logits.dtype.kind == "O"
        human = np.full(len(logits), -1) if known else logits.argmin(axis=1)
        return Observations.from_arrays(human, logits, classes=classes, model_scale="logit")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # arbitrary features are no opinion about the class
        return tags


class CombinerOnFeatures(OnFeatures):
    """The same for combiners, which also give log-probabilities."""

    def predict_log_proba(self, X):
        return super().predict_log_proba(self._seen_again(X))


class LearnsOnFromFeatures(CombinerOnFeatures):
    """The same for combiners that learn on."""

    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        known = getattr(self, "classes_", np.unique(np.asarray(y)) if classes is None else classes)
        first = not hasattr(self, "classes_")
        seen = self._seen(X, known) if first else self._seen_again(X)
        super().partial_fit(seen, y, sample_weight=sample_weight)
        validate_data(self, X, skip_check_array=True, reset=first)
        return self


COMBINERS = {
    "P+L": (ProbabilityLabelCombiner, {}),
    "P+L marginalised": (
        ProbabilityLabelCombiner,
        {"confusion": DirichletConfusion(estimate="mean"), "calibrator": TemperatureScaling(estimate="mean")},
    ),
    "SP": (ProbabilityLabelCombiner, {"confusion": OneCoinConfusion()}),
    "L+L": (LabelLabelCombiner, {}),
    "LR": (LogisticCombiner, {}),
}
CALIBRATORS = {
    cls.__name__: (cls, {})
    for cls in (
        DirichletCalibration,
        EnsembleTemperatureScaling,
        Identity,
        IMaxBinning,
        TemperatureScaling,
        VectorScaling,
    )
}


def on_features(cls, parameters):
    name = f"{cls.__name__}OnFeatures"
    mixin = OnFeatures if issubclass(cls, Calibrator) else CombinerOnFeatures
    mixin = LearnsOnFromFeatures if hasattr(cls, "partial_fit") else mixin
    made = globals().get(name) or type(name, (mixin, cls), {"__module__": __name__, "__qualname__": name})
    globals()[name] = made  # where pickle looks for it
    return made(**parameters)


EXCLUDED = {
    "check_classifiers_regression_target": "any number can be a class name (p_0.5): classes are those X has columns "
    "for, and a number that is none of them is refused as any other label that is no class",
    "check_dtype_object": "an entry that is no number is an InvalidObservations, a ValueError that names its row; "
    "the check wants the TypeError of float()",
    "check_all_zero_sample_weights_error": "refused, but the message says 'all are 0' and not 'zero'",
}
EXCLUDED_WHERE_TRUTH_MAY_BE_MISSING = {
    "check_non_transformer_estimators_n_iter": "max_iter is EM's, and with all truth known there is nothing to iterate",
}


def excluded(estimator):
    return EXCLUDED | (EXCLUDED_WHERE_TRUTH_MAY_BE_MISSING if isinstance(estimator, ProbabilityLabelCombiner) else {})


@parametrize_with_checks(
    [on_features(*entry) for entry in (COMBINERS | CALIBRATORS).values()], expected_failed_checks=excluded
)
def test_common_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------ its tools, on every form of X

RNG = np.random.default_rng(11)
N_ITEMS, NAMES = 90, np.array(["cat", "dog", "eel"])
CODE = np.arange(N_ITEMS) % 3
Y = NAMES[CODE]
PROBA = RNG.dirichlet(np.ones(3), N_ITEMS) * 0.7 + 0.3 * np.eye(3)[CODE]
HUMAN = np.where(RNG.random(N_ITEMS) < 0.7, CODE, RNG.integers(0, 3, N_ITEMS))
WIDE = {"human": NAMES[HUMAN].tolist()} | {f"p_{name}": PROBA[:, at] for at, name in enumerate(NAMES)}
ARRAY = np.column_stack([HUMAN, PROBA])
FORMS = {
    "array": ARRAY,
    "observations": Observations.from_arrays(HUMAN, PROBA, classes=NAMES),
    "pandas": pd.DataFrame(WIDE, index=np.arange(N_ITEMS)[::-1]),
    "polars": pl.DataFrame(WIDE),
    "pandas reordered": pd.DataFrame(WIDE)[["p_eel", "human", "p_cat", "p_dog"]],
}
EVERY_FORM = pytest.mark.parametrize("form", FORMS)
TEAMS = {name: cls(**parameters) for name, (cls, parameters) in COMBINERS.items()}
EVERY_TEAM = pytest.mark.parametrize("team", TEAMS.values(), ids=TEAMS)
EVERY_CALIBRATOR = pytest.mark.parametrize("calibrator", [cls() for cls, _ in CALIBRATORS.values()], ids=CALIBRATORS)
FOLDS = KFold(3)


def by_hand(team, method):
    """Cross-validation written out, on arrays."""
    out = []
    for start in range(0, N_ITEMS, N_ITEMS // 3):
        test = np.arange(start, start + N_ITEMS // 3)
        train = np.setdiff1d(np.arange(N_ITEMS), test)
        out.append(getattr(clone(team).fit(ARRAY[train], Y[train]), method)(ARRAY[test]))
    return np.concatenate(out)


@EVERY_TEAM
@EVERY_FORM
def test_every_form_gives_the_same_bits(team, form):
    expected = clone(team).fit(ARRAY, Y)
    fitted = clone(team).fit(FORMS[form], Y)
    assert fitted.classes_.tolist() == ["cat", "dog", "eel"]
    assert fitted.predict_proba(FORMS[form]).tobytes() == expected.predict_proba(ARRAY).tobytes()
    assert fitted.predict_log_proba(FORMS[form]).tobytes() == expected.predict_log_proba(ARRAY).tobytes()
    assert fitted.predict(FORMS[form]).tolist() == expected.predict(ARRAY).tolist()
    assert fitted.score(FORMS[form], Y) == np.mean(expected.predict(ARRAY) == Y)
    for other in FORMS.values():
        assert fitted.predict_proba(other).tobytes() == expected.predict_proba(ARRAY).tobytes()


@EVERY_TEAM
@EVERY_FORM
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_cross_val_predict(team, form, method):
    predicted = cross_val_predict(team, FORMS[form], Y, cv=FOLDS, method=method)
    np.testing.assert_array_equal(predicted, by_hand(team, method))


@EVERY_FORM
def test_cross_val_score(form):
    team = ProbabilityLabelCombiner()
    scores = cross_val_score(team, FORMS[form], Y, cv=FOLDS)
    right = (by_hand(team, "predict") == Y).reshape(3, -1)
    np.testing.assert_allclose(scores, right.mean(axis=1))
    losses = cross_val_score(team, FORMS[form], Y, cv=FOLDS, scoring="neg_log_loss")
    proba = by_hand(team, "predict_proba").reshape(3, -1, 3)
    np.testing.assert_allclose(losses, [-log_loss(y, p) for y, p in zip(Y.reshape(3, -1), proba, strict=True)])


@EVERY_FORM
def test_grid_search_over_the_parts(form):
    team = ProbabilityLabelCombiner(DirichletConfusion(), TemperatureScaling())
    grid = {"calibrator__estimate": ["mode", "likelihood"], "confusion__prior_strength": [0.5, 50.0]}
    found = GridSearchCV(team, grid, cv=FOLDS, scoring="neg_log_loss", error_score="raise").fit(FORMS[form], Y)
    losses = {}
    for estimate in ("mode", "likelihood"):
        for strength in (0.5, 50.0):
            one = ProbabilityLabelCombiner(
                DirichletConfusion(prior_strength=strength), TemperatureScaling(estimate=estimate)
            )
            losses[estimate, strength] = log_loss(Y, by_hand(one, "predict_proba"))
    best = min(losses, key=losses.get)
    assert (found.best_params_["calibrator__estimate"], found.best_params_["confusion__prior_strength"]) == best
    np.testing.assert_allclose(-found.best_score_, losses[best])
    assert found.predict(FORMS[form]).shape == (N_ITEMS,)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_grid_search_in_processes_and_threads(backend):
    grid = {"confusion": [DirichletConfusion(), OneCoinConfusion()], "calibrator": [None, Identity()]}
    with joblib.parallel_backend(backend, n_jobs=2):
        found = GridSearchCV(ProbabilityLabelCombiner(), grid, cv=FOLDS, error_score="raise").fit(FORMS["pandas"], Y)
    alone = GridSearchCV(ProbabilityLabelCombiner(), grid, cv=FOLDS, error_score="raise").fit(FORMS["pandas"], Y)
    assert found.cv_results_["mean_test_score"].tolist() == alone.cv_results_["mean_test_score"].tolist()


@EVERY_FORM
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibrated_classifier_cv(form, ensemble):
    calibrated = CalibratedClassifierCV(ProbabilityLabelCombiner(), cv=FOLDS, ensemble=ensemble)
    proba = calibrated.fit(FORMS[form], Y).predict_proba(FORMS[form])
    expected = clone(calibrated).fit(ARRAY, Y).predict_proba(ARRAY)
    np.testing.assert_array_equal(proba, expected)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert calibrated.classes_.tolist() == ["cat", "dog", "eel"]


@EVERY_FORM
def test_pipeline(form):
    pipeline = Pipeline([("as it is", FunctionTransformer()), ("team", LabelLabelCombiner())])
    X = FORMS[form]
    if form == "observations":
        pipeline = Pipeline([("team", LabelLabelCombiner())])
    expected = LabelLabelCombiner().fit(ARRAY, Y).predict_proba(ARRAY)
    assert pipeline.fit(X, Y).predict_proba(X).tobytes() == expected.tobytes()
    searched = GridSearchCV(pipeline, {"team__confusion": [None, OneCoinConfusion()]}, cv=FOLDS, error_score="raise")
    assert searched.fit(X, Y).best_score_ > 0.5


@EVERY_TEAM
@EVERY_FORM
def test_a_weight_of_two_is_a_row_twice(team, form):
    twice = np.concatenate([np.arange(N_ITEMS), np.arange(30)])
    weight = np.where(np.arange(N_ITEMS) < 30, 2.0, 1.0)
    weighted = clone(team).fit(FORMS[form], Y, sample_weight=weight).predict_proba(ARRAY)
    repeated = clone(team).fit(ARRAY[twice], Y[twice]).predict_proba(ARRAY)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-4, atol=1e-9)


@EVERY_CALIBRATOR
def test_a_weight_of_two_is_a_row_twice_for_calibrators(calibrator):
    twice = np.concatenate([np.arange(N_ITEMS), np.arange(30)])
    weight = np.where(np.arange(N_ITEMS) < 30, 2.0, 1.0)
    weighted = clone(calibrator).fit(PROBA, Y, sample_weight=weight).predict_proba(PROBA)
    repeated = clone(calibrator).fit(PROBA[twice], Y[twice]).predict_proba(PROBA)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-5, atol=1e-9)


@EVERY_CALIBRATOR
def test_calibrators_take_every_form(calibrator):
    expected = clone(calibrator).fit(PROBA, Y)
    for form in ("observations", "pandas", "polars", "pandas reordered"):
        fitted = clone(calibrator).fit(FORMS[form], Y)
        assert fitted.predict_proba(FORMS[form]).tobytes() == expected.predict_proba(PROBA).tobytes()
        assert fitted.predict(FORMS[form]).tolist() == expected.predict(PROBA).tolist()
        assert fitted.score(FORMS[form], Y) == expected.score(PROBA, Y)
    assert cross_val_score(calibrator, PROBA, Y, cv=FOLDS).shape == (3,)


@EVERY_TEAM
@EVERY_FORM
def test_pickling(team, form):
    fitted = clone(team).fit(FORMS[form], Y)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict_proba(FORMS[form]).tobytes() == fitted.predict_proba(FORMS[form]).tobytes()
    assert len(pickle.loads(pickle.dumps(FORMS[form]))) == N_ITEMS


@EVERY_TEAM
def test_cloning_forgets_what_was_learnt(team):
    fitted = clone(team).fit(ARRAY, Y)
    again = clone(fitted)
    assert str(again.get_params()) == str(team.get_params())
    with pytest.raises(NotFittedError):
        again.predict(ARRAY)


def test_output_containers_change_nothing():
    from sklearn import config_context

    with config_context(transform_output="pandas"):
        proba = ProbabilityLabelCombiner().fit(FORMS["pandas"], Y).predict_proba(FORMS["pandas"])
    assert isinstance(proba, np.ndarray)


def test_features_are_counted_and_named():
    team = ProbabilityLabelCombiner()
    assert team.fit(ARRAY, Y).n_features_in_ == 4
    assert not hasattr(team, "feature_names_in_")
    team.fit(FORMS["pandas reordered"], Y)
    assert team.n_features_in_ == 4
    assert team.feature_names_in_.tolist() == ["human", "p_cat", "p_dog", "p_eel"]
    assert not hasattr(team.fit(FORMS["observations"], Y), "feature_names_in_")
    crowd = FORMS["pandas"].rename(columns={"human": "human_al"}).assign(human_bo="cat")
    assert team.fit(crowd, Y).n_features_in_ == 5
    calibrator = TemperatureScaling().fit(FORMS["pandas"], Y)
    assert calibrator.n_features_in_ == 3
    assert calibrator.feature_names_in_.tolist() == ["p_cat", "p_dog", "p_eel"]
    assert Pipeline([("team", team)]).n_features_in_ == 5


def test_other_columns_at_predict_are_refused():
    team = ProbabilityLabelCombiner().fit(FORMS["pandas"], Y)
    with pytest.raises(InvalidObservations, match="p_eel is missing, p_elk is new"):
        team.predict(FORMS["pandas"].rename(columns={"p_eel": "p_elk"}))
    with pytest.raises(InvalidObservations, match="it has 2 and there were 3 classes at fit"):
        team.predict([[0, 0.5, 0.5]])


@pytest.mark.parametrize("missing", [None, np.nan, ""])
@EVERY_FORM
def test_truth_may_be_missing_per_item(missing, form):
    y = Y.astype(object)
    y[::4] = missing
    coded = np.where(np.arange(N_ITEMS) % 4 == 0, -1, CODE)
    team = ProbabilityLabelCombiner(tol=1e-4)
    expected = clone(team).fit(ARRAY, coded).predict_proba(ARRAY)
    assert clone(team).fit(FORMS[form], y).predict_proba(FORMS[form]).tobytes() == expected.tobytes()


@EVERY_FORM
@pytest.mark.parametrize("labels", [CODE, CODE.astype(float), NAMES[CODE]])
def test_predictions_come_in_the_type_of_the_labels(form, labels):
    X = FORMS[form]
    if labels.dtype.kind != "U" and form != "array":
        X = pd.DataFrame({"human": HUMAN} | {f"p_{at}": PROBA[:, at] for at in range(3)})
        X = Observations.from_frame(X) if form == "observations" else X
    predicted = LabelLabelCombiner().fit(X, labels).predict(X)
    assert predicted.dtype.kind == labels.dtype.kind
    assert set(predicted.tolist()) <= set(labels.tolist())
