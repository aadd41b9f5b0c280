"""One model beside people on one data set, and the splits of its trials."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sklearn.model_selection import train_test_split

from twoheads.kernels.arrays import Codes, Floats

#: Seeds of the paper: of the human label drawn for each image, and, times the number of a trial, of its split.
SEED = 9658
TEST_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class People:
    """Who answered what about which image: codes, (n_answers,) each."""

    person: Codes
    image: Codes
    answer: Codes


@dataclass(frozen=True)
class Priors:
    """Priors that take the place of a method's own; None keeps those.

    Attributes
    ----------
    log_temperature_sd : float or None
        Standard deviation of the logarithm of the temperature, the paper's sigma.
    accuracy : float or None
        Mode of the confusion matrix's diagonal.
    """

    log_temperature_sd: float | None = None
    accuracy: float | None = None


OWN_PRIORS = Priors()


@dataclass(frozen=True, eq=False)
class Split:
    """Rows (the human's code, then the model's probabilities) and truth, to fit on and to test on; and priors."""

    X: Floats
    y: Codes
    X_test: Floats
    y_test: Codes
    priors: Priors = OWN_PRIORS


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a study: one answer and the model's probabilities for its image, with the truth.

    Attributes
    ----------
    X : ndarray of shape (n_rows, 1 + n_classes)
        The human's code, then the model's probabilities.
    y : ndarray of shape (n_rows,)
        The true codes.
    image : ndarray of shape (n_rows,)
        The image of each row.
    n_images : int
        How many images there are.
    splits_images : bool
        Whether all rows of an image are on the same side of a split; else rows are split, as if each had an image of
        its own.
    priors : Priors
        Priors to fit with.
    """

    X: Floats
    y: Codes
    image: Codes
    n_images: int
    splits_images: bool = True
    priors: Priors = OWN_PRIORS

    def split(self, trial: int) -> Split:
        """Split of a trial, 70 % to fit on: the paper's own for one answer per image, and for rows that are split."""
        training, test = self.sides(trial * SEED)
        return Split(self.X[training], self.y[training], self.X[test], self.y[test], self.priors)

    def sides(self, random_state: int) -> tuple[Codes, Codes]:
        """Positions of the rows to fit on and of those to test on, in the order in which they are used."""
        n_units = self.n_images if self.splits_images else len(self.image)
        training, test = train_test_split(np.arange(n_units), test_size=TEST_SHARE, random_state=random_state)
        if not self.splits_images:
            return training, test
        return self._rows_of(training, random_state), self._rows_of(test, random_state)

    def _rows_of(self, images: Codes, random_state: int) -> Codes:
        if len(self.image) == self.n_images:  # one row per image, in the order of the images
            return images
        return np.random.default_rng(random_state).permutation(np.flatnonzero(np.isin(self.image, images)))


@dataclass(frozen=True, eq=False)
class Setting:
    """A model's probabilities for the images of a data set, their truth, and people's answers.

    Attributes
    ----------
    dataset, model : str
        As the paper names them.
    noise_level : int or None
        Of ImageNet-16H.
    classes : tuple of str
    proba, truth : ndarray of shape (n_images, n_classes), (n_images,)
    image, answer : ndarray of shape (n_answers,)
        Answers, in the order of the images.
    people : People or None
        The answers of each person, if it is known who answered.
    file_order : ndarray of shape (n_answers,) or None
        Positions of the answers in the order of their file, if they have one each.
    training_accuracy : float or None
        The model's accuracy on its training set, if it is known.
    """

    dataset: str
    model: str
    noise_level: int | None
    classes: tuple[str, ...]
    proba: Floats
    truth: Codes
    image: Codes
    answer: Codes
    people: People | None = None
    file_order: Codes | None = None
    training_accuracy: float | None = None

    @property
    def key(self) -> tuple[str, str, int | None]:
        """What tells it from others: the data set, the model and the noise level."""
        return self.dataset, self.model, self.noise_level

    @property
    def name(self) -> str:
        """Name for people: the model, the data set and the noise."""
        noise = "" if self.noise_level is None else f" at noise {self.noise_level}"
        return f"{self.model} on {self.dataset}{noise}"

    def one_answer(self, seed: int = SEED) -> Rows:
        """One answer per image, drawn as the paper draws it: one generator shuffles each image's answers in turn."""
        rng = np.random.default_rng(seed)
        human = np.empty(len(self.truth), dtype=np.intp)
        ends = np.cumsum(np.bincount(self.image, minlength=len(self.truth)))
        all_answers = self.answer.tolist()
        start = 0
        for at, end in enumerate(ends.tolist()):
            answers = all_answers[start:end]
            rng.shuffle(answers)
            human[at] = answers[0]
            start = end
        return self._rows(np.arange(len(self.truth)), human)

    def every_answer(self) -> Rows:
        """Every answer, each with the model's probabilities for its image; trials split images."""
        return self._rows(self.image, self.answer)

    def every_answer_split(self) -> Rows:
        """Every answer in the order of the file; trials split answers, so that most images are on both sides."""
        assert self.file_order is not None
        in_file_order = self._rows(self.image[self.file_order], self.answer[self.file_order])
        return replace(in_file_order, splits_images=False)

    @cached_property
    def drawn(self) -> Rows:
        """The answers drawn with the paper's seed."""
        return self.one_answer()

    def _rows(self, image: Codes, human: Codes) -> Rows:
        return Rows(np.column_stack([human, self.proba[image]]), self.truth[image], image, len(self.truth))
