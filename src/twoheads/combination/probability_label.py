"""P+L: a person's confusion matrix times the model's calibrated probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from twoheads.artifact import register
from twoheads.calibration.base import Calibrator
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.annotators import annotator_stats
from twoheads.combination.answering import Answering
from twoheads.combination.base import Combiner
from twoheads.combination.dependence import Dependence, LeftOut
from twoheads.combination.description import facts, words
from twoheads.combination.em import (
    EM_CORRELATION,
    expectation_maximisation,
    log_prevalence,
    start_from_votes,
)
from twoheads.combination.explanation import Explanation, in_favour
from twoheads.combination.forecast import learn_answer_temperature
from twoheads.combination.labelled import (
    Labelled,
    crowd_counts_by_fold,
    fold_of,
    labelled,
    manner_counts_by_fold,
)
from twoheads.combination.memory import AnyItems, Memory, Remembered, remember, united
from twoheads.combination.parts import part
from twoheads.combination.pool import ModelPool
from twoheads.combination.record import Record, record_of
from twoheads.confusion.base import Confusion, Rows
from twoheads.confusion.dirichlet import DirichletConfusion
from twoheads.confusion.manner import Manner
from twoheads.engines.local import mapped
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.kernels.agreement import agreement_log_density
from twoheads.kernels.answers import Answers, answer_log_likelihood, pack_answers, sum_by_item
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence import MODE_LABELS
from twoheads.kernels.guard import guarded
from twoheads.kernels.posterior import joint_log_proba
from twoheads.kernels.simplex import FLOOR, LOG_FLOOR
from twoheads.kernels.temperature import tempered
from twoheads.observations import SUM_TOLERANCE, Observations

#: Rows of leave-one-out matrices are written down once if they have fewer numbers than this together (8 MB).
TABLE_NUMBERS = 1_000_000

#: Log-probabilities in the sample of a large table from which its fit starts (64 MB).
SAMPLE_NUMBERS = 8_000_000

#: Scale of the prior of a log temperature that the calibrator holds.
HELD_SD = 1e-3

#: Scale of the prior of the log temperature of several models together, each calibrated already.
POOL_SD = 0.4

#: Scale of the prior of a log temperature that EM has learnt from items that several people answered.
LEARNT_SCALE = 0.2


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
    answer_log_temperature_ : float
        How much less sure than the calibrated model one must be to foretell people's answers.
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
        return self._learn(items)

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        forget: float = 0.0,
    ) -> Self:
        """Learn on from more items, as if they had been there all along; the earlier ones are not needed.

        Counts are exactly those of `fit` on all items, and the model's temperature is to 1e-6. What is no sum over
        items (the correction for dependence, and whatever items without truth say) comes from a bounded sample of all
        items seen: 2,000 with truth and 2,000 without, fewer with more than 50 classes.

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
        known = self.classes_ if before is not None else None if classes is None else np.asarray(classes)
        items = labelled(X, y, sample_weight, self.model_scale, known)
        if before is None:
            self._learn_about(items.seen)
            return self._learn(items)
        if isinstance(items, Labelled):
            items = replace(items, seen=items.seen.with_models(self.models_))
        self._check_same("X", items.seen.classes, items.seen.models or self.models_)
        new = [name for name in items.seen.annotators if name not in set(self.annotators_)]
        self.annotators_ = (*self.annotators_, *new)
        return self._learn(items, before.faded(forget) if forget else before)

    def merge(self, *others: Self) -> Self:
        """One team from this one and others that were fitted on other items, as if on all; none of them changes.

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
        merged.annotators_ = self.annotators_ if names == set(self.annotators_) else tuple(sorted(names))
        return merged._learn(Remembered.of([team.memory_ for team in teams], merged.annotators_, self.classes_))

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

    def _learn(self, items: AnyItems, before: Memory | None = None) -> Self:
        """Learn from items and what is remembered of earlier ones."""
        self._class_prior()
        self.confusion_: Confusion = part(self.confusion, Confusion, DirichletConfusion, "confusion")
        self.calibrator_: Calibrator = part(self.calibrator, Calibrator, TemperatureScaling, "calibrator")
        self.dependence_ = (
            None if self.dependence is None else part(self.dependence, Dependence, Dependence, "dependence")
        )
        self.manner_ = self._start_manner(items, before)
        blocks: Sequence[Block] = []
        if isinstance(items, Remembered):
            self.memory_ = items.memory
        else:
            blocks = items.blocks()
            self.memory_ = remember(
                items,
                blocks,
                items.seen.annotators or ("human",),
                correlation=0.0 if self.dependence_ is None else self.dependence_.prior_correlation,
                overlap=self.confusion_.uses_overlap,
                manner=self.manner_,
                temperature=self._temperature_alone(),
            )
            if before is not None:
                self.memory_ = united([before, self.memory_], self.annotators_)
                items, blocks = Remembered(items.seen, self.memory_), []
        self.record_ = None
        self.objective_ = np.empty(0)
        self.n_labelled_, self.n_unlabelled_ = self.memory_.n_labelled_, self.memory_.n_unlabelled_
        self.labels_per_class_ = self.memory_.labels_per_class_
        self.prevalence_ = (self.labels_per_class_ + 1.0) / (self.labels_per_class_ + 1.0).sum()
        self.pool_ = self._fit_pool(items)
        if self.pool_ is not None:
            items = items.mapped(self.pool_.pooled)
        answering = self.memory_.answering()
        self.answering_ = self.memory_.answering_
        if self.n_labelled_:
            known = items.labelled()
            if self.n_unlabelled_ or self.pool_ is not None or not blocks:
                blocks = known.blocks()
            self._fit_labelled(blocks, answering, remembered=isinstance(items, Remembered))
            if self.dependence_ is not None:
                correlation = self.dependence_.prior_correlation
                if answering.several_on_average and self.n_unlabelled_ and self.unlabelled_weight:
                    self._fit_unlabelled(items, answering)
                    correlation = EM_CORRELATION
                    agreement, prior = None, self._learnt_log_temperature(LEARNT_SCALE)
                else:
                    agreement = self._agreement(items) if self.unlabelled_weight else None
                    prior = self._log_temperature_prior()
                by_fold = None
                if answering.several or len(self.annotators_) > 1:
                    by_fold = crowd_counts_by_fold(blocks, len(self.classes_), correlation)
                self._fit_dependence(self.dependence_, known, blocks, by_fold, agreement, prior)
        if self.n_unlabelled_ and (not self.n_labelled_ or (self.unlabelled_weight and self.dependence_ is None)):
            self._fit_unlabelled(items, answering)
        self.answer_log_temperature_ = learn_answer_temperature(self, items)
        return self

    def _temperature_alone(self) -> TemperatureScaling:
        """Where the log-likelihood of the model's temperature is looked at most closely."""
        if type(self.calibrator_) is TemperatureScaling and self.calibrator_.log_temperature_sd > 0:
            return self.calibrator_
        return TemperatureScaling(estimate="likelihood")

    def _start_manner(self, items: AnyItems, before: Memory | None) -> Manner | None:
        """Levels of confidence as they were cut at first, or are now; None where nobody gave any, or said "unsure"."""
        memory = items.memory if isinstance(items, Remembered) else before
        manner = Manner()
        if memory is not None and memory.manner_bounds_ is not None:
            manner.bounds_ = memory.manner_bounds_
            return manner.fit_counts(np.zeros((len(self.classes_) * manner.n_symbols + 1, len(self.classes_))))
        confidences = items.confidences()
        return None if confidences is None else manner.start(confidences, len(self.classes_))

    def _fit_pool(self, items: AnyItems) -> ModelPool | None:
        """Learn to make one of several models; None where there is one."""
        if len(self.models_) == 1:
            return None
        pool = ModelPool(self.calibrator_)
        limit = min(MODE_LABELS, SAMPLE_NUMBERS // len(self.classes_))
        if not self.n_labelled_:
            return pool.start(items.some(limit), len(self.classes_))
        self.calibrator_ = TemperatureScaling(log_temperature_mean=0.0, log_temperature_sd=POOL_SD)
        return pool.fit_blocks(items.labelled().some(limit), len(self.classes_))

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

    def _fit_labelled(self, blocks: Sequence[Block], answering: Answering, *, remembered: bool) -> None:
        """Learn the parts from the sums over labelled items, or from the items where sums do not tell all."""
        memory = self.memory_
        one = len(self.annotators_) == 1 and not answering.several
        overlap = memory.overlap_ if self.confusion_.uses_overlap else None
        self.confusion_.fit_counts(memory.counts_, overlap, crowd_counts=None if one else memory.crowd_counts_)
        if self.manner_ is not None:
            self.manner_.fit_counts(memory.manner_counts_)
        calibrator = self.calibrator_
        if (
            self.pool_ is None
            and type(calibrator) is TemperatureScaling
            and (remembered or calibrator.estimate != "mean")
        ):
            calibrator.fit_values(memory.temperature_values_)
        else:
            calibrator.fit_blocks(blocks, len(self.classes_))

    def _fit_unlabelled(self, items: AnyItems, answering: Answering) -> None:
        """Learn the parts by EM; where people tell each other's worth, the model's temperature too."""
        n_people, n_classes = len(self.annotators_), len(self.classes_)
        blocks, calibrator = items.blocks(), self.calibrator_
        correlation = 0.0 if self.dependence_ is None else EM_CORRELATION
        if not self.n_labelled_:
            if answering.several_on_average and not items.seen.model_proba:
                self.prevalence_ = start_from_votes(
                    blocks, self.confusion_, n_annotators=n_people, correlation=correlation
                )
            else:
                self.confusion_.start(n_people, n_classes)
            self.calibrator_.start(blocks, n_classes)
            if self.dependence_ is not None and not answering.several_on_average:
                calibrator = self._start_dependence(self.dependence_, items)
        elif (self.confusion_.human_given_true_ == 0).any():  # EM can never leave a zero
            self.confusion_.start(n_people, n_classes)
        progress = expectation_maximisation(
            blocks,
            self.confusion_,
            calibrator,
            self.manner_,
            n_annotators=n_people,
            unlabelled_weight=self.unlabelled_weight if self.n_labelled_ else 1.0,
            max_iter=self.max_iter,
            tol=self.tol,
            correlation=correlation,
            hold_calibrator=self.dependence_ is not None and not answering.several_on_average,
            log_prior=self._log_prior(),
            learn_prior=isinstance(self.class_prior, str) and self.class_prior == "learn",
        )
        self.objective_, self.prevalence_ = progress.objective, progress.prevalence
        if self.dependence_ is not None and answering.several_on_average and not self.n_labelled_:
            self.dependence_.start(log_temperature_prior=self._learnt_log_temperature(HELD_SD), n_classes=n_classes)

    def _start_dependence(self, dependence: Dependence, items: AnyItems) -> Calibrator:
        """Learn of the model's temperature from items without any truth; returns what EM is to hold."""
        n_classes = len(self.classes_)
        dependence.start(
            log_temperature_prior=self._log_temperature_prior(), n_classes=n_classes, agreement=self._agreement(items)
        )
        if not isinstance(self.calibrator_, TemperatureScaling):
            return self.calibrator_
        return TemperatureScaling(log_temperature_mean=dependence.mean_log_temperature(), log_temperature_sd=0).start(
            [], n_classes
        )

    def _agreement(self, items: AnyItems) -> Callable[[Floats], Floats] | None:
        """What items without truth say of the model's temperature; None where nobody answered one, or it is held."""
        if self._log_temperature_prior()[1] <= HELD_SD:
            return None
        pairs = items.answered_without_truth()
        if pairs is None:
            return None
        human_label = self._human_label(pairs)
        return agreement_log_density(self._model_side(pairs), human_label, *self.confusion_.accuracy_posterior())

    def _fit_dependence(
        self,
        dependence: Dependence,
        known: AnyItems,
        blocks: Sequence[Block],
        fold_counts: Floats | None,
        agreement: Callable[[Floats], Floats] | None,
        log_temperature_prior: tuple[float, float],
    ) -> None:
        left_out = self._left_out(known, blocks, fold_counts)
        sample: Sequence[Block] = []
        if len(known) > MODE_LABELS:
            limit = min(MODE_LABELS, SAMPLE_NUMBERS // len(self.classes_))
            # The Hessian is a product of matrices: with many classes it wants more items at a time.
            sample = self._seen_by_dependence(known.some(limit, least=1024))
            blocks = blocks if blocks[0].n_items >= 1024 else known.blocks(least=1024)
        blocks = self._seen_by_dependence(blocks)
        dependence.fit(
            blocks,
            sample,
            left_out,
            n=float(known.per_class().sum()),
            log_temperature_prior=log_temperature_prior,
            n_classes=len(self.classes_),
            agreement=agreement,
        )
        plain = dependence.plain()

        def proba(block: Block) -> tuple[Floats, Floats]:
            given = left_out(block)
            seen = block.log_proba, given, block.answers
            return dependence.proba(*seen), plain.proba(*seen)

        self.record_ = record_of(sample or blocks, proba, self._human_label)

    def _left_out(self, known: AnyItems, blocks: Sequence[Block], fold_counts: Floats | None) -> LeftOut:
        log_rows = self._log_left_out_rows(known.weight_of_one(), fold_counts)
        answered = self._answered_left_out(log_rows, fold_counts is not None)
        if self.manner_ is None:
            return answered
        manner = self.manner_.left_out(manner_counts_by_fold(blocks, self.manner_))
        return lambda block: answered(block) + manner(block, fold_of(block))

    def _answered_left_out(self, log_rows: Rows, by_fold: bool) -> LeftOut:

        def log_likelihood(block: Block) -> Floats:
            assert block.answers is not None
            assert block.true_label is not None
            answers, truth = block.answers, block.true_label
            fold = fold_of(block) if by_fold else None
            if answers.start is not None:
                item = np.repeat(np.arange(len(answers)), answers.per_item())
            elif (answers.column == MISSING).any():
                item = np.flatnonzero(answers.column != MISSING)
            else:
                return log_rows(answers.column, truth, fold)
            column = answers.column if answers.start is not None else answers.column[item]
            return sum_by_item(answers, log_rows(column, truth[item], None if fold is None else fold[item]))

        return log_likelihood

    def _log_left_out_rows(self, weight: float, fold_counts: Floats | None) -> Rows:
        """Log of the confusion's `left_out_rows`: a gather from a table where few pairs (answer, truth) occur."""
        rows, n_classes = self.confusion_.left_out_rows(weight, fold_counts), len(self.classes_)

        def log_rows(column: Codes, true_label: Codes, fold: Codes | None = None) -> Floats:
            given = np.maximum(rows(column, true_label, fold), FLOOR)
            return np.log(given, out=given)

        pairs = np.nonzero(self.confusion_.counts_.reshape(-1, n_classes))
        if fold_counts is not None or len(pairs[0]) * n_classes > TABLE_NUMBERS:
            return log_rows
        table = log_rows(*pairs)
        number = np.zeros(self.confusion_.counts_.size, dtype=np.intp)
        number[pairs[0] * n_classes + pairs[1]] = np.arange(len(pairs[0]))

        def gathered(column: Codes, true_label: Codes, fold: Codes | None = None) -> Floats:
            return np.asarray(np.take(table, number[column * n_classes + true_label], axis=1))

        return gathered

    def _learnt_log_temperature(self, scale: float) -> tuple[float, float]:
        """Location and scale of what is left to learn of the model's log temperature after EM."""
        if isinstance(self.calibrator_, TemperatureScaling):
            return self.calibrator_.log_temperature_, scale
        return 0.0, scale

    def _log_temperature_prior(self) -> tuple[float, float]:
        """Location and scale of what is left for the dependence stage to learn of the model's temperature."""
        if isinstance(self.calibrator_, TemperatureScaling):
            return self.calibrator_.log_temperature_mean, max(self.calibrator_.log_temperature_sd, HELD_SD)
        return 0.0, 0.25

    def _model_side(self, block: Block) -> Floats:
        """What the dependence stage sees of the model: it tempers by itself, other calibrations are made before."""
        log_proba = block.log_proba
        if not isinstance(self.calibrator_, TemperatureScaling):
            log_proba = np.maximum(self.calibrator_.calibrate(log_proba), LOG_FLOOR)
        return self._with_prior(block, log_proba)

    def _seen_by_dependence(self, blocks: Sequence[Block]) -> Sequence[Block]:
        if isinstance(self.calibrator_, TemperatureScaling) and self._log_prior() is None:
            return blocks
        return mapped(lambda block: replace(block, log_proba=self._model_side(block)), blocks)

    def _human_label(self, block: Block) -> Codes:
        """The people's label: their answer, or the class most likely to give all their answers; MISSING without any."""
        assert block.answers is not None
        if block.answers.start is None:
            return np.where(block.answers.column == MISSING, MISSING, block.answers.column % len(self.classes_))
        likely = answer_log_likelihood(block.answers, self.confusion_.log_table()).argmax(axis=0)
        return np.where(block.answers.per_item() == 0, MISSING, likely)

    def log_joint(self, block: Block) -> Floats:
        """Log-probability of each class given model and answers, (n_classes, n_items), up to a constant per item."""
        assert block.answers is not None
        table = self.confusion_.log_table()
        manner = None if self.manner_ is None else self.manner_.log_likelihood(block)
        if self.dependence_ is None:
            calibrated = self._with_prior(block, self.calibrator_.calibrate(block.log_proba))
            return self._shifted(block, joint_log_proba(calibrated, block.answers, table, manner=manner))
        given = answer_log_likelihood(block.answers, np.maximum(table, LOG_FLOOR))
        if manner is not None:
            given += manner
        model = self._model_side(block)
        proba = self.dependence_.proba(model, given, block.answers)
        if self.guard and self.record_ is not None:
            guard = self.record_.guard()
            partner = self._human_label(block) if guard.human_leads else model.argmax(axis=0)
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
        seen = self._observations(X)
        block = self._block(seen, slice(0, len(seen)))
        assert block.answers is not None
        joint = self.log_joint(block)
        label = joint.argmax(axis=0)
        table = self.confusion_.log_table()
        if self.dependence_ is not None:
            table = np.maximum(table, LOG_FLOOR)
        model = self._tempered(block)
        parts = {}
        prior = self._shifted(block, self._with_prior(block, np.zeros_like(model)))
        if prior.any():
            parts["prior"] = in_favour(prior, label)
        if self.pool_ is None:
            parts |= {name: in_favour(model, label) for name in seen.models or ("model",)}
        else:
            shares = self.pool_.parts(super()._block(seen, slice(0, len(seen))))
            scale = self._tempering()
            parts |= {name: in_favour(scale * each, label) for name, each in zip(self.models_, shares, strict=True)}
        # Answers that leave no class possible say nothing: the model alone has spoken.
        unheard = np.isneginf((model + answer_log_likelihood(block.answers, table)).max(axis=0))
        for person, name in enumerate(seen.annotators):
            own = _answers_of(seen.answers, person, int(self._place((name,))[0]), seen.n_classes)
            parts[name] = in_favour(answer_log_likelihood(own, table), label)
            parts[name][unheard] = 0.0
        if self.manner_ is not None:
            parts["confidence"] = in_favour(self.manner_.log_likelihood(block), label)
            parts["confidence"][unheard] = 0.0
        if self.dependence_ is not None:
            parts["dependence"] = in_favour(joint, label) - np.sum(list(parts.values()), axis=0)
        return Explanation(self.classes_[label], self.classes_, parts)

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

    def _tempering(self) -> float:
        """What the log-odds of several models together are multiplied with."""
        assert isinstance(self.calibrator_, TemperatureScaling)
        if self.dependence_ is None:
            return float(np.exp(-self.calibrator_.log_temperature_))
        return float(np.exp(-self.dependence_.mean_log_temperature()))


def _answers_of(answers: Answers, person: int, place: int, n_answers: int) -> Answers:
    """The answers of one person, as those of person ``place``."""
    item = np.arange(len(answers)) if answers.start is None else np.repeat(np.arange(len(answers)), answers.per_item())
    who, answer = np.divmod(answers.column, n_answers)
    mine = (who == person) & (answers.column != MISSING)
    return pack_answers(item[mine], place * n_answers + answer[mine], len(answers))
