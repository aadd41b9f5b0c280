"""P+L: a person's confusion matrix times the model's calibrated probabilities."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from twoheads.calibration.base import Calibrator
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.annotators import annotator_stats
from twoheads.combination.base import Combiner
from twoheads.combination.dependence import Dependence
from twoheads.combination.description import facts, words
from twoheads.combination.em import (
    log_prevalence,
)
from twoheads.combination.explanation import Explanation, explanation_of
from twoheads.combination.forecast import learn_answer_temperature
from twoheads.combination.labelled import (
    Labelled,
    labelled,
)
from twoheads.combination.learning import learn
from twoheads.combination.memory import Memory
from twoheads.combination.pool import ModelPool
from twoheads.combination.record import Record
from twoheads.combination.remembered import Remembered
from twoheads.confusion.base import Confusion
from twoheads.confusion.manner import Manner
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.kernels.answers import answer_log_likelihood
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.tempering import tempered
from twoheads.kernels.dependence.guard import guarded
from twoheads.kernels.posterior import joint_log_proba
from twoheads.kernels.simplex import LOG_FLOOR
from twoheads.observations import SUM_TOLERANCE, Observations
from twoheads.observations.columns import known_classes
from twoheads.storage.artifact import register


@register
class ProbabilityLabelCombiner(Combiner):
    r"""Combine people's labels with a model's probabilities.

    .. math:: p(y = j \mid h = i, m) \propto \varphi_{ij}\, m_j^{1/T}

    With the truth of every item this is the paper's P+L; with none, P+L-EM; with some, both at once. Maximum
    likelihood, posterior mode or posterior mean is the ``estimate`` of the parts. With `OneCoinConfusion` it is the
    paper's SP, with ``estimate="mean"`` in both parts the fully Bayesian combination.

    Parameters
    ----------
    confusion : Confusion, default DirichletConfusion()
        How the people's answers depend on the truth.
    calibrator : Calibrator, default TemperatureScaling()
        What the model's probabilities mean.
    dependence : Dependence, optional
        Corrects for partners who err on the same items. With it, items without truth inform the model's temperature
        alone, and without any truth EM learns the people's matrices with that temperature held.
    guard : bool
        Where the combination hesitates, side with the partner that did better on the labelled items: fewer surprises
        from few labels, at the cost of some accuracy. Needs ``dependence``.
    class_prior : {"model", "learn"} or array of shape (n_classes,)
        How common the classes are. "model": as the model's rows say; where no model has seen an item, every class is as
        likely. "learn": there, as common as they were found at fit. An array: as common as it says where the team is
        used, which also corrects items that a model has seen, by how common classes were at fit.
    unlabelled_weight : float
        What an item without truth counts, next to 1 for an item with it; 0 ignores them where there is any truth.
    max_iter, tol : int, float
        EM stops after so many iterations, or when the log posterior gains less than so much per item.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Attributes
    ----------
    confusion_, calibrator_ : Confusion, Calibrator
        The fitted parts.
    dependence_ : Dependence or None
        The fitted correction.
    memory_ : Memory
        What `partial_fit` and `merge` add to: sums over all items learnt from, and a sample of them.
    pool_ : ModelPool or None
        How several models are made one; None where there is one.
    prevalence_ : ndarray of shape (n_classes,)
        How common the classes were at fit: among labelled items, or, where EM was run, among all.
    manner_ : Manner or None
        What the confidence of an answer tells, and "unsure"; None where people gave neither.
    record_ : Record or None
        How the labelled items were predicted, each without itself; with ``dependence`` only.
    labels_per_class_ : ndarray of shape (n_classes,)
        How many labelled items of each class were learnt from (their weight).
    classes_, annotators_ : ndarray, tuple of str
        The classes and the people.
    models_, has_model_ : tuple of str, bool
        The models, and whether there was any.
    answering_ : ndarray of shape (3, n_annotators)
        How many answers each person gave, how many of them others answered too, and how far those agreed.
    n_labelled_, n_unlabelled_ : int
        How many items with and without truth were learnt from.
    objective_ : ndarray
        The log posterior at each iteration of EM; empty where all truth was known.

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

    several_models = True

    confusion_: Confusion
    calibrator_: Calibrator
    dependence_: Dependence | None
    manner_: Manner | None
    memory_: Memory
    pool_: ModelPool | None
    record_: Record | None

    def __init__(
        self,
        confusion: Confusion | None = None,
        calibrator: Calibrator | None = None,
        dependence: Dependence | None = None,
        *,
        guard: bool = False,
        class_prior: str | ArrayLike = "model",
        unlabelled_weight: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-8,
        model_scale: str = "probability",
    ) -> None:
        self.confusion = confusion
        self.calibrator = calibrator
        self.dependence = dependence
        self.guard = guard
        self.class_prior = class_prior
        self.unlabelled_weight = unlabelled_weight
        self.max_iter = max_iter
        self.tol = tol
        self.model_scale = model_scale

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from observations and as much truth as there is.

        Parameters
        ----------
        X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
            What the people answered and the model predicted.
        y : array of shape (n_items,), optional
            The truth; None, NaN, -1 or blank where it is not known.
        sample_weight : array of shape (n_items,), optional
            What each item counts; 2 counts as the item given twice.
        """
        if not self.unlabelled_weight >= 0:
            raise InvalidParameter(f"unlabelled_weight must not be negative; it is {self.unlabelled_weight!r}.")
        items = labelled(X, y, sample_weight, self.model_scale)
        self._learn_about(items.seen)
        learn(self, items)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        forget: float = 0.0,
    ) -> Self:
        """Learn on from more items; the earlier ones are not needed.

        Counts are exactly those of `fit` on all items, and the model's temperature is to 1e-6. What is no sum over
        items (the correction for dependence, and whatever items without truth say) comes from a bounded sample of all
        items seen: 2,000 with truth and 2,000 without, fewer with more than 50 classes. Levels of confidence are those
        of the first items that had any. An item that is given again counts twice, also if it had no truth before.
        Should it fail, the team stays as it was.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array of shape (n_classes,), optional
            The classes, where the first ``X`` is an array; afterwards they are known.
        forget : float
            What share of what was learnt before is forgotten first, from 0 to below 1: for people and models that
            change.
        """
        if not 0 <= forget < 1:
            raise InvalidParameter(f"forget must be at least 0 and below 1; it is {forget!r}.")
        self._check_learns_on()
        before: Memory | None = getattr(self, "memory_", None)
        known = self.classes_ if before is not None else None if classes is None else known_classes(classes)
        items = labelled(X, y, sample_weight, self.model_scale, known)
        team = copy(self)  # should learning fail, this one stays as it is
        if before is None:
            team._learn_about(items.seen)
            learn(team, items)
        else:
            if isinstance(items, Labelled):
                items = replace(items, seen=items.seen.with_models(self.models_))
            self._check_same("X", items.seen.classes, items.seen.models or self.models_)
            new = [name for name in items.seen.annotators if name not in set(self.annotators_)]
            team.annotators_ = (*self.annotators_, *new)
            team.has_model_ |= bool(items.seen.model_proba)
            learn(team, items, before.faded(forget) if forget else before)
        self.__dict__ = team.__dict__
        return self

    def merge(self, *others: Self) -> Self:
        """One team from this one and others that were fitted on other items; none of them changes.

        What is the same, and what comes from a sample, is as in `partial_fit`.
        """
        teams = (self, *others)
        for team in teams:
            check_is_fitted(team)
            team._check_learns_on()
            if type(team) is not type(self) or repr(team.get_params()) != repr(self.get_params()):
                raise InvalidParameter(
                    f"others must be teams of the same kind and parameters; {team!r} is not like {self!r}."
                )
            self._check_same("others", team.classes_, team.models_)
        names = {name for team in teams for name in team.annotators_}
        merged: Self = clone(self)
        for name in ("classes_", "models_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(merged, name, getattr(self, name))
        merged.has_model_ = any(team.has_model_ for team in teams)
        merged.annotators_ = self.annotators_ if names == set(self.annotators_) else tuple(sorted(names))
        learn(merged, Remembered.of([team.memory_ for team in teams], merged.annotators_, self.classes_))
        return merged

    #: Whether it can learn on from more items.
    learns_on: ClassVar[bool] = True

    def _check_learns_on(self) -> None:
        if not self.learns_on:
            raise InvalidParameter(f"{type(self).__name__} cannot learn on from more items. Fit anew with all of them.")

    def _check_same(self, argument: str, classes: NDArray[Any], models: tuple[str, ...]) -> None:
        """Refuse items, or a team, of other classes or models."""
        for what, mine, theirs in ("classes", self.classes_, classes), ("models", self.models_, models):
            if list(mine) != list(theirs):
                raise InvalidObservations(
                    f"{argument} must have the {what} seen before, {', '.join(map(str, mine[:8]))}; "
                    f"they are {', '.join(map(str, theirs[:8]))}."
                )

    def _class_prior(self) -> str | Floats:
        """How common the classes are said to be: "model", "learn", or an array, checked."""
        if isinstance(self.class_prior, str):
            if self.class_prior not in ("model", "learn"):
                raise InvalidParameter(f"class_prior must be 'model', 'learn' or an array; it is {self.class_prior!r}.")
            return self.class_prior
        prior = np.asarray(self.class_prior, dtype=np.float64)
        if prior.shape != (len(self.classes_),) or not (prior > 0).all() or abs(prior.sum() - 1.0) > SUM_TOLERANCE:
            raise InvalidParameter(
                f"class_prior must hold {len(self.classes_)} positive numbers that sum to 1, one per class; it is "
                f"{self.class_prior!r}."
            )
        return np.asarray(prior / prior.sum())

    def _log_prior(self) -> Floats | None:
        """Log of how common classes are where no model has seen an item; None where every class is as likely."""
        prior = self._class_prior()
        if isinstance(prior, str):
            return None if prior == "model" else log_prevalence(self.prevalence_)
        return np.asarray(np.log(prior))

    def _log_shift(self) -> Floats | None:
        """What is added where a model has seen an item: classes may be as common now as they were not at fit."""
        prior = self._class_prior()
        return None if isinstance(prior, str) else np.log(prior) - log_prevalence(self.prevalence_)

    def _with_prior(self, block: Block, log_proba: Floats) -> Floats:
        """A model's log-probabilities, with the prior of the classes in their place where no model has seen an item."""
        log_prior = self._log_prior()
        if log_prior is None or block.no_model is None:
            return log_proba
        return np.where(block.no_model, log_prior[:, None], log_proba)

    def _model_side(self, block: Block) -> Floats:
        """What the dependence stage sees of the model: it tempers by itself, other calibrations are made before."""
        log_proba = block.log_proba
        if not isinstance(self.calibrator_, TemperatureScaling):
            log_proba = np.maximum(self.calibrator_.calibrate(log_proba), LOG_FLOOR)
        return self._with_prior(block, log_proba)

    def _human_label(self, block: Block, given: Floats | None = None) -> Codes:
        """The people's label: their answer, or the class most likely to give all their answers; MISSING without any.

        given  (n_classes, n_items) the answers' log-likelihood, where the team's own matrices are not to give it
        """
        assert block.answers is not None
        if block.answers.start is None:
            return np.where(block.answers.column == MISSING, MISSING, block.answers.column % len(self.classes_))
        if given is None:
            given = answer_log_likelihood(block.answers, self.confusion_.log_table())
        return np.where(block.answers.per_item() == 0, MISSING, given.argmax(axis=0))

    def _proba(self, block: Block, given: Floats, dependence: Dependence) -> Floats:
        """Probability of each class, corrected for dependence where there are both a model and people to depend.

        given  (n_classes, n_items) the answers' log-likelihood
        """
        assert block.answers is not None
        proba = dependence.proba(self._model_side(block), given, block.answers)
        unasked, unseen = block.single_source_items(has_model=self.has_model_)
        if len(unasked):
            proba[:, unasked] = dependence.model_proba(self.calibrator_.calibrate(block.log_proba[:, unasked]))
        if len(unseen):
            prior = self._with_prior(block, np.zeros_like(given))[:, unseen]
            proba[:, unseen] = dependence.people_proba(prior, given[:, unseen], block.answers.take(unseen))
        return proba

    def log_joint(self, block: Block) -> Floats:
        """Log-probability of each class given model and answers, (n_classes, n_items), up to a constant per item."""
        assert block.answers is not None
        table = self.confusion_.log_table()
        manner = None if self.manner_ is None else self.manner_.log_likelihood(block)
        if self.dependence_ is None:
            calibrated = self._with_prior(block, self.calibrator_.unnormalised(block.log_proba))
            return self._shifted(block, joint_log_proba(calibrated, block.answers, table, response=manner))
        given = answer_log_likelihood(block.answers, np.maximum(table, LOG_FLOOR))
        if manner is not None:
            given += manner
        proba = self._proba(block, given, self.dependence_)
        if self.guard and self.record_ is not None:
            guard = self.record_.guard()
            partner = self._human_label(block) if guard.human_leads else self._model_side(block).argmax(axis=0)
            proba = guarded(proba, partner, guard.log_threshold)
        with np.errstate(divide="ignore"):
            return self._shifted(block, np.log(proba, out=proba))

    def _shifted(self, block: Block, joint: Floats) -> Floats:
        shift = self._log_shift()
        if shift is None:
            return joint
        seen = 1.0 if block.no_model is None else ~block.no_model
        return np.asarray(joint + shift[:, None] * seen)

    def _block(self, seen: Observations, rows: slice) -> Block:
        """A block numbered as at fit, with one model in place of several."""
        block = super()._block(seen, rows)
        return block if self.pool_ is None else self.pool_.pooled(block)

    def explain(self, X: Any) -> Explanation:
        """Log-odds of each item's combined label against each alternative, as a sum of what each member contributes."""
        return explanation_of(self, self._observations(X))

    @property
    def answer_log_temperature_(self) -> float:
        """How much less sure than the calibrated model one must be to foretell people's answers; learnt when asked."""
        check_is_fitted(self)
        if not hasattr(self, "_answer_log_temperature"):
            self._answer_log_temperature = learn_answer_temperature(self)
        return self._answer_log_temperature

    @property
    def annotator_stats_(self) -> dict[str, NDArray[Any]]:
        """What was learnt of each person: a column per fact, an entry per person (``pandas.DataFrame`` takes it).

        ``answers`` given, and those ``judged`` (of known truth, or all where EM believed one); ``accuracy`` with its
        90 % interval from ``accuracy_low`` to ``accuracy_high``; ``agreement``, the mean share of the other answers on
        an item that say the same; ``bits``, what one answer tells of the true class.
        """
        check_is_fitted(self)
        return annotator_stats(self.annotators_, self.confusion_, self.answering_)

    def facts(self) -> dict[str, Any]:
        """What was learnt, as numbers that JSON can hold."""
        check_is_fitted(self)
        return facts(self)

    def describe(self) -> str:
        """What was learnt, in plain words: one sentence a line."""
        return "\n".join(words(self.facts()))

    def _tempered(self, block: Block) -> Floats:
        """The model's calibrated log-probabilities: with `dependence`, at the temperature that the stage has learnt."""
        if self.dependence_ is None or not isinstance(self.calibrator_, TemperatureScaling):
            return self.calibrator_.calibrate(block.log_proba)
        return tempered(block.log_proba, self.dependence_.mean_log_temperature())
