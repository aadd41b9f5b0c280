"""Numbers of labels and trials: those behind the published tables, or those that the paper's text states."""

from __future__ import annotations

from dataclasses import dataclass, replace

from twoheads.errors import InvalidParameter
from twoheads.studies.imagenet16h import DATASET as IMAGENET
from twoheads.studies.rows import PAPER
from twoheads.studies.setting import OWN_PRIORS, Priors, Rows, Setting

PROTOCOLS = ("published", "stated")

#: The paper's sigma for the models of ImageNet-16H; the 0.5 of the others is that of the methods.
STATED_SD = 0.75

#: All the labels of a trial, 70 % of them all.
ALL = 1_000_000


@dataclass(frozen=True)
class Column:
    """How a column of a table is computed.

    Attributes
    ----------
    method : str
        Its heading.
    n_labelled : int
        Labels to fit on, the first of a trial's; fewer if there are fewer.
    n_trials : int
    estimate : {"mode", "likelihood"}
        How the released code estimates confusion matrices there.
    """

    method: str
    n_labelled: int
    n_trials: int
    estimate: str = "mode"


@dataclass(frozen=True)
class Protocol:
    """What a study does, trial by trial.

    Attributes
    ----------
    name : {"published", "stated"}
    seeds : int or None
        Number of trials, in place of the protocol's own.
    """

    name: str = "published"
    seeds: int | None = None

    def __post_init__(self) -> None:
        if self.name not in PROTOCOLS:
            raise InvalidParameter(f"protocol must be one of {', '.join(PROTOCOLS)}; it is {self.name!r}.")
        if self.seeds is not None and (isinstance(self.seeds, bool) or self.seeds != int(self.seeds) or self.seeds < 1):
            raise InvalidParameter(f"seeds must be a whole number of 1 or more; it is {self.seeds!r}.")

    def __str__(self) -> str:
        trials = "" if self.seeds is None else f", {self.seeds} {'trial' if self.seeds == 1 else 'trials'} everywhere"
        return f"Protocol {self.name}{trials}"

    @property
    def is_stated(self) -> bool:
        """Whether the paper's text is followed, not its tables."""
        return self.name == "stated"

    def trials(self, own: int) -> int:
        """Number of trials, if the protocol's own is ``own``."""
        return own if self.seeds is None else int(self.seeds)

    def rows(self, setting: Setting, behaviour: str) -> Rows:
        """One answer drawn for each image; of ImageNet-16H, as its published numbers show, every answer.

        The published tables of ImageNet-16H split answers, so that an image is on both sides; ``correct`` splits
        images. The paper's text speaks of one label per image throughout.
        """
        if self.is_stated:
            return replace(setting.drawn, priors=self.priors(setting))
        if setting.dataset != IMAGENET:
            return setting.drawn
        return setting.every_answer_split() if behaviour == PAPER else setting.every_answer()

    def priors(self, setting: Setting) -> Priors:
        """The methods' own; as stated, sigma is 0.75 on ImageNet-16H and the mode is the model's training accuracy."""
        if not self.is_stated:
            return OWN_PRIORS
        return Priors(STATED_SD if setting.dataset == IMAGENET else None, setting.training_accuracy)

    def error_columns(self) -> tuple[Column, ...]:
        """Columns of the error-rate tables."""
        if self.is_stated:
            methods = ("L+L", "Uncalibrated", "TS", "ETS", "IMax", "Recommended")
            combinations = [Column(method, 5000, self.trials(25)) for method in methods]
        else:
            likelihood = ("L+L", "Uncalibrated", "ETS", "IMax")
            combinations = [Column(method, ALL, self.trials(25), "likelihood") for method in likelihood]
            combinations[2:2] = [Column("TS", 5000, self.trials(10))]
            combinations.append(Column("Recommended", 5000, self.trials(10)))
        return (Column("Human", 0, self.trials(25)), Column("Model", 0, self.trials(25)), *combinations)
