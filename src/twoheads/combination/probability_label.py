"""P+L: a person's confusion matrix times the model's calibrated probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from twoheads.calibration.base import Calibrator
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.class_prior import as_class_prior
from twoheads.combination.fitting.fit import fit_team
from twoheads.combination.items.open import open_items
from twoheads.combination.items.protocol import CountableItems, Schema
from twoheads.combination.items.sampled import SampledItems
from twoheads.combination.learnt import LearntItems
from twoheads.combination.parts import Parts, clone_or_default
from twoheads.combination.statistics.sufficient import merge_statistics
from twoheads.combination.team import Team
from twoheads.confusion.base import Confusion
from twoheads.confusion.dirichlet import DirichletConfusion
from twoheads.dependence import Dependence
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.observations.columns import known_classes
from twoheads.observations.labels import same_texts
from twoheads.storage.artifact import register


@register
class ProbabilityLabelCombiner(Team):
    r"""Combine people's labels with a model's probabilities.

    .. math:: p(y = j \mid h = i, m) \propto \varphi_{ij}\, m_j^{1/T}

    With the truth of every item this is the paper's P+L; with none, P+L-EM; with some, both at once. Maximum
    likelihood, posterior mode or posterior mean is the ``estimate`` of the parts. With `OneCoinConfusion` it is the
    paper's SP, with ``estimate="mean"`` in both parts the fully Bayesian combination.

    Parameters
    ----------
    confusion : Confusion, default DirichletConfusion()
        Probabilities of people's answers given the truth.
    calibrator : Calibrator, default TemperatureScaling()
        Calibration of the model's probabilities.
    dependence : Dependence, optional
        Corrects for a model and people who err on the same items. With it, unlabelled items also inform the model's
        temperature, and without any truth EM estimates the people's matrices with that temperature fixed. With it, the
        team also prefers, in close calls, whichever of people and model did better on the labelled items, and answers
        as one of them alone where its hold-out record shows that this is better.
    class_prior : {"model", "learn", "shift"}, dict, or array of shape (n_classes,)
        Prior of the classes. "model": the model's rows contain it; for an item without a model row, classes are equally
        likely. "learn": for such an item, the prevalence at fit. "shift": as "model", and each prediction is corrected
        to the class shares of the items predicted together, as far as these differ clearly from those at fit; see
        `class_shares`. For a team with ``dependence`` and without any model, these are based on the shares of the
        majority's votes and of the labels, which EM does not change. A dict by class name, or an array in the order of
        ``classes_``: the prevalence where the team is used, which also corrects items with a model row for label shift.
    unlabelled_weight : float
        Weight of an unlabelled item, where a labelled one has weight 1; 0 ignores them if there is any truth.
    max_iter, tol : int, float
        EM stops after ``max_iter`` iterations, or when the log posterior gains less than ``tol`` per item.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Attributes
    ----------
    confusion_, calibrator_ : Confusion, Calibrator
        The fitted parts.
    dependence_ : Dependence or None
        The fitted correction.
    response_ : ResponseModel or None
        Likelihood of confidence and of "unsure"; None if people gave neither.
    pool_ : ModelPool or None
        The pool of several models; None where there is one.
    panel_ : Panel or None
        Weights of related members; None unless there are 20 labels, two answers per item on average, and three members
        with answers on ten labelled items each and, together, one answer per item.
    prevalence_ : ndarray of shape (n_classes,)
        Prevalence of the classes at fit: among labelled items, or, where EM was run, among all.
    holdout_ : HoldoutRecord or None
        Errors on the labelled items, each held out in turn; with ``dependence`` only.
    objective_ : ndarray
        The log posterior at each iteration of EM; empty where EM was not run.
    statistics_ : SufficientStatistics
        Sums over all items and a sample of them, with which `partial_fit` and `merge` continue.
    n_labelled_, n_unlabelled_ : int
        Number of labelled and of unlabelled items.
    labels_per_class_ : ndarray of shape (n_classes,)
        Weight of the labelled items of each class.
    annotation_counts_ : ndarray of shape (3, n_annotators)
        Each person's number of answers, of those on items that others answered too, and how far these agreed.
    learnt_ : LearntItems
        Recognises the items whose truth the team has learnt from; at most 100,000 of them are kept.
    classes_, annotators_ : ndarray, tuple of str
        The classes and the people.
    models_, has_model_ : tuple of str, bool
        The models, and whether there was any.

    References
    ----------
    Kerrigan, Smyth & Steyvers, *Combining Human Predictions with Model Probabilities via Confusion Matrices and
    Calibration*, NeurIPS 2021.

    Examples
    --------
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]  # the human's code, then the model's row
    >>> team = ProbabilityLabelCombiner().fit(X, [0, 1, 0, 1])
    >>> team.predict(X).tolist()
    [0, 1, 0, 1]
    """

    supports_several_models = True

    #: Whether a fit can be continued with more items.
    supports_partial_fit: ClassVar[bool] = True

    def __init__(
        self,
        confusion: Confusion | None = None,
        calibrator: Calibrator | None = None,
        dependence: Dependence | None = None,
        *,
        class_prior: str | ArrayLike | Mapping[Any, float] = "model",
        unlabelled_weight: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-8,
        model_scale: str = "probability",
    ) -> None:
        self.confusion = confusion
        self.calibrator = calibrator
        self.dependence = dependence
        self.class_prior = class_prior
        self.unlabelled_weight = unlabelled_weight
        self.max_iter = max_iter
        self.tol = tol
        self.model_scale = model_scale

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from observations and as much truth as there is.

        Parameters
        ----------
        X : Observations, data frame, array of shape (n_items, 1 + n_classes), or scanned table
            What the people answered and the model predicted.
        y : array of shape (n_items,), optional
            The truth; None, NaN, -1 or blank where it is not known. A scanned table contains it.
        sample_weight : array of shape (n_items,), optional
            Weight of each item; 2 is the same as the item given twice.
        """
        return self.fit_items(open_items(X, y, sample_weight, model_scale=self.model_scale, zeros=self._no_zeros()))

    def fit_items(self, items: CountableItems) -> Self:
        """Learn from items opened by `twoheads.combination.items.open_items`."""
        return self.adopt(fit_team(self._parts(items.schema), items)).remember(items.learnt())

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        forget: float = 0.0,
    ) -> Self:
        """Continue the fit with more items; the earlier ones are not needed.

        Counts are exactly those of `fit` on all items, and the model's temperature is to 1e-6. What is not a sum over
        items (the correction for dependence, and everything estimated from unlabelled items) uses a bounded sample of
        all items: 2,000 with truth and 2,000 without, fewer with more than 50 classes. Levels of confidence are those
        of the first items that had any. An item that is given again counts twice, also if it had no truth before.
        If it fails, the team stays as it was.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array of shape (n_classes,), optional
            The classes, where the first ``X`` is an array; afterwards they are known.
        forget : float
            Share of the earlier weight that is dropped first, from 0 to below 1: for people and models that change.
        """
        if not 0 <= forget < 1:
            raise InvalidParameter(f"forget must be at least 0 and below 1; it is {forget!r}.")
        self._need_partial_fit()
        if not hasattr(self, "statistics_"):
            known = None if classes is None else known_classes(classes)
            first: dict[str, Any] = {"classes": known, "zeros": self._no_zeros()}
            return self.fit_items(open_items(X, y, sample_weight, model_scale=self.model_scale, **first))
        self._need_sample()
        as_before: dict[str, Any] = {"classes": self.classes_, "models": self.models_, "levels": self.levels_}
        as_before["zeros"] = self.zeros_
        items = open_items(X, y, sample_weight, model_scale=self.model_scale, **as_before)
        self._need_same("X", items.schema.classes, items.schema.models or self.models_)
        earlier = self.statistics_.discounted(forget) if forget else self.statistics_
        result = fit_team(self._parts(items.schema), items, earlier=earlier)
        n_features = self.n_features_in_
        schema = replace(result.schema, models=self.models_, columns=self._columns(), zeros=self.zeros_)
        learnt = LearntItems.joined([self.learnt_, items.learnt()])
        self.adopt(replace(result, schema=schema)).remember(learnt)
        self.n_features_in_ = n_features  # that of the first items, as in scikit-learn
        return self

    def merge(self, *others: Self) -> Self:
        """One team from this one and others that were fitted on other items; none of them changes.

        What is exact, and what comes from a sample, is as in `partial_fit`.
        """
        teams = (self, *others)
        for team in teams:
            self._need_mergeable(team)
        names = {name for team in teams for name in team.annotators_}
        annotators = self.annotators_ if names == set(self.annotators_) else tuple(sorted(names))
        statistics = merge_statistics([team.statistics_ for team in teams], annotators)
        of_members = statistics.machines, statistics.levels, self.zeros_
        schema = Schema(self.classes_, annotators, self.models_, statistics.has_model, self._columns(), *of_members)
        merged: Self = clone(self)
        merged.adopt(fit_team(self._parts(schema), SampledItems(schema, statistics)))
        return merged.remember(LearntItems.joined([team.learnt_ for team in teams]))

    def _parts(self, schema: Schema) -> Parts:
        """The parameters, checked, with unfitted copies of the estimators."""
        weight = self.unlabelled_weight
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= weight < float("inf"):
            raise InvalidParameter(f"unlabelled_weight must be a number, not negative; it is {weight!r}.")
        self._need_model_count(schema)
        confusion = clone_or_default(self.confusion, Confusion, DirichletConfusion, "confusion")
        calibrator = clone_or_default(self.calibrator, Calibrator, TemperatureScaling, "calibrator")
        dependence, correlation = None, 0.0
        if self.dependence is not None:
            dependence = clone_or_default(self.dependence, Dependence, Dependence, "dependence")
            correlation = dependence.prior_correlation
        return Parts(
            confusion,
            calibrator,
            dependence,
            correlation,
            as_class_prior(self.class_prior, schema.classes),
            self.unlabelled_weight,
            self.max_iter,
            self.tol,
        )

    def _no_zeros(self) -> tuple[float, ...] | None:
        """What zeros are read as is found by a team with a correction for dependence; P+L takes rows as they are."""
        return None if self.dependence is None else ()

    def _columns(self) -> tuple[str, ...] | None:
        return tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None

    def _need_partial_fit(self) -> None:
        if not self.supports_partial_fit:
            raise InvalidParameter(
                f"{type(self).__name__} cannot continue a fit with more items. Fit again on all of them."
            )

    def _need_sample(self) -> None:
        if not self.statistics_.has_sample:
            raise InvalidParameter(
                "the team was saved without its sample of training items, so its fit cannot be continued. "
                "Fit again, and save with keep_sample=True (without --no-sample)."
            )

    def _need_mergeable(self, team: Self) -> None:
        check_is_fitted(team)
        team._need_partial_fit()
        team._need_sample()
        if type(team) is not type(self) or repr(team.get_params()) != repr(self.get_params()):
            raise InvalidParameter(
                f"others must be teams of the same kind and parameters; {team!r} is not like {self!r}."
            )
        self._need_same("others", team.classes_, team.models_)
        scorers, own = (() if each.levels_ is None else each.levels_.names for each in (team, self))
        if scorers != own:
            raise InvalidObservations(
                f"others must have scores of the same members, {', '.join(own[:8]) or 'nobody'}; one has those of "
                f"{', '.join(scorers[:8]) or 'nobody'}. Fit again on all items."
            )

    @property
    def labelled_numbers_(self) -> Floats:
        """How many answers of each are about items known to be of each class, (n_annotators, n_classes)."""
        return self.statistics_.answer_numbers[:, :-1]

    def _need_same(self, argument: str, classes: NDArray[Any], models: tuple[str, ...]) -> None:
        """Refuse items, or a team, of other classes or models."""
        if not same_texts(self.classes_, classes):
            raise InvalidObservations(
                f"{argument} must have the classes of the earlier fit, in their order, {self.classes_.tolist()[:8]}; "
                f"they are {classes.tolist()[:8]}. Give labels of one type, numbers or text, and the same classes."
            )
        if self.models_ != models:
            raise InvalidObservations(
                f"{argument} must have the models of the earlier fit, {', '.join(self.models_[:8])}; "
                f"they are {', '.join(models[:8])}. Leave out other models, or fit again with all of them."
            )
