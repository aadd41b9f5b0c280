"""What an evaluation or a report may ask of a team, as protocols.

`Team` is what every team must have. The others are capabilities: a section of a report that needs one is left out for
a team without it. Every combiner of twoheads is a `Team`; a class of your own need not inherit from anything.
"""

from __future__ import annotations

from typing import Any, Protocol, Self, cast, runtime_checkable

from numpy.typing import NDArray

from twoheads.calibration.base import Calibrator
from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.insight.class_shares import ClassShares
from twoheads.combination.insight.explanation import Explanation
from twoheads.combination.insight.people_accuracy import PeopleAccuracy
from twoheads.combination.learnt import LearntItems
from twoheads.combination.members_here import Members, warn_of_members
from twoheads.combination.rival import Rivals
from twoheads.confusion.base import Confusion
from twoheads.confusion.score_levels import ScoreLevels
from twoheads.kernels.arrays import Floats
from twoheads.observations import Observations, as_observations


class UnfittedTeam(Protocol):
    """A scikit-learn estimator that can be cloned and fitted, as for cross-validation."""

    model_scale: str

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the team on observations and their truth, unknown for some or all."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn's `clone` asks for them."""


class Team(UnfittedTeam, Protocol):
    """A fitted team."""

    classes_: NDArray[Any]
    annotators_: tuple[str, ...]

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each item, (n_items, n_classes)."""


@runtime_checkable
class CalibratesModel(Protocol):
    """A team that calibrates its model."""

    calibrator_: Calibrator


@runtime_checkable
class EstimatesConfusion(Protocol):
    """A team that estimates how people confuse classes."""

    confusion_: Confusion


@runtime_checkable
class CountsLabels(Protocol):
    """A team that knows how many items with and without truth it was fitted on."""

    n_labelled_: int
    n_unlabelled_: int


@runtime_checkable
class RemembersItems(Protocol):
    """A team that recognises the items it has learnt from."""

    learnt_: LearntItems


@runtime_checkable
class HasRecord(Protocol):
    """A team with a record of its labelled items, each held out."""

    holdout_: HoldoutRecord | None


@runtime_checkable
class ProfilesAnnotators(CountsLabels, Protocol):
    """A team with statistics of each annotator."""

    @property
    def annotator_stats_(self) -> dict[str, NDArray[Any]]:
        """A column per statistic, an entry per annotator."""

    def annotator_stats_at(self, level: float) -> dict[str, NDArray[Any]]:
        """The same with intervals of another level."""

    def facts(self) -> dict[str, Any]:
        """What was fitted, as numbers; ``people`` if there are several annotators."""


@runtime_checkable
class MeasuresPeople(Protocol):
    """A team that measures people's accuracies on items of known truth."""

    @property
    def labelled_counts_(self) -> Floats:
        """Answers of each person about labelled items, (n_annotators, n_classes, n_classes)."""

    @property
    def labelled_numbers_(self) -> Floats:
        """How many answers of each person are about items known to be of each class, (n_annotators, n_classes)."""

    @property
    def people_accuracy_(self) -> PeopleAccuracy:
        """Distributions of people's accuracies."""


@runtime_checkable
class ExplainsItems(Protocol):
    """A team that splits an item's log-odds into contributions."""

    def explain(self, X: Any) -> Explanation:
        """Log-odds of each item's label against each alternative, as a sum of contributions."""


@runtime_checkable
class HasTemperature(Protocol):
    """A calibrator with one temperature."""

    temperature_: float

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""


@runtime_checkable
class HasTemperaturePosterior(HasTemperature, Protocol):
    """A calibrator that also knows the standard deviation of log T."""

    log_temperature_sd_: float


@runtime_checkable
class AdaptsToItems(Protocol):
    """A team that adapts to the items it predicts together, as to their class shares."""

    def at_hand(self, X: Any) -> Any:
        """The team as it predicts ``X``."""


@runtime_checkable
class HasClassShares(Protocol):
    """A team whose predictions are corrected to estimated class shares."""

    class_shares_: ClassShares


def at_hand(team: Team, X: Any) -> Team:
    """The team as it predicts ``X``; itself, unless it adapts."""
    return cast(Team, team.at_hand(X)) if isinstance(team, AdaptsToItems) else team


def class_shares_of(team: Team) -> ClassShares | None:
    """The class shares that a team is corrected to; None where it is not."""
    return team.class_shares_ if isinstance(team, HasClassShares) else None


def calibrator_of(team: Team) -> Calibrator | None:
    """The team's fitted calibrator, if it has one."""
    return team.calibrator_ if isinstance(team, CalibratesModel) else None


def confusion_of(team: Team) -> Confusion | None:
    """The team's fitted confusion estimate, if it has one."""
    return team.confusion_ if isinstance(team, EstimatesConfusion) else None


def people_of(team: Team) -> tuple[str, ...]:
    """The annotators of a team that are people."""
    machines = getattr(team, "machines_", ())
    return tuple(name for name in team.annotators_ if name not in machines)


def levels_of(team: Team) -> ScoreLevels | None:
    """How the team cuts scores into levels; None without scores."""
    levels: ScoreLevels | None = getattr(team, "levels_", None)
    return levels


def positive_of(team: UnfittedTeam) -> str | None:
    """The class that high scores mean to a fitted team; None where it knows no scores."""
    levels: ScoreLevels | None = getattr(team, "levels_", None)
    return None if levels is None else levels.positive


def observed_by(team: Team, X: Any) -> Observations:
    """``X`` as observations with the classes of a fitted team; high scores mean what they meant at fit."""
    found = as_observations(
        X,
        classes=team.classes_,
        positive=positive_of(team),
        need_model=getattr(team, "has_model_", True),
        model_scale=team.model_scale,
    )
    if isinstance(team, Members):
        warn_of_members(team, X, found)
    return found


def n_labelled_of(team: Team) -> int | None:
    """How many items with truth the team was fitted on; None if it does not know."""
    return team.n_labelled_ if isinstance(team, CountsLabels) else None


def learnt_of(team: Team) -> LearntItems | None:
    """The items whose truth the team has learnt from; None if it does not know."""
    return team.learnt_ if isinstance(team, RemembersItems) else None


def record_of(team: Team) -> Rivals | None:
    """The rivals in the team's own record of its labelled items; None if it has none."""
    record = team.holdout_ if isinstance(team, HasRecord) else None
    return None if record is None else record.rivals
