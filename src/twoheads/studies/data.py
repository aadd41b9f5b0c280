"""The public data in a folder: which settings they make, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from twoheads.errors import InvalidObservations
from twoheads.studies import cifar10h, imagenet16h
from twoheads.studies.setting import Setting
from twoheads.studies.training_accuracy import with_training_accuracy


@dataclass(frozen=True, eq=False)
class Data:
    """The data found.

    Attributes
    ----------
    settings : tuple of Setting
        In the paper's order.
    missing : tuple of str
        What the paper used and is missing.
    """

    settings: tuple[Setting, ...]
    missing: tuple[str, ...]

    def of(self, dataset: str) -> tuple[Setting, ...]:
        """Settings of one data set."""
        return tuple(setting for setting in self.settings if setting.dataset == dataset)

    def shown(self) -> tuple[Setting, ...]:
        """One setting of each data set: the paper's choice for its figures if present, else the first."""
        wanted = {("ResNet-164", None), ("VGG-19", 80)}
        chosen = []
        for dataset in dict.fromkeys(setting.dataset for setting in self.settings):
            candidates = self.of(dataset)
            chosen.append(next((s for s in candidates if (s.model, s.noise_level) in wanted), candidates[0]))
        return tuple(chosen)


def read_data(folder: str | Path) -> Data:
    """Read the public files in a folder, or in its folders ``cifar10h`` and ``imagenet16h``."""
    place = Path(folder)
    if not place.is_dir():
        raise InvalidObservations(f"data must be an existing folder; {str(place)!r} is not.")
    cifar, no_cifar = cifar10h.read_cifar10h([place, place / "cifar10h"])
    imagenet, no_imagenet = imagenet16h.read_imagenet16h([place, place / "imagenet16h"])
    if not cifar and not imagenet:
        names = [name for name, _ in cifar10h.FILES.values()]
        raise InvalidObservations(
            f"data must hold public files of the paper; {str(place)!r} and its folders cifar10h and imagenet16h hold "
            f"none. Any of these will do: {', '.join(names)}; or {imagenet16h.ANSWERS} with {imagenet16h.PREDICTIONS}."
        )
    settings = with_training_accuracy([*cifar, *imagenet], place)
    return Data(settings, (*no_cifar, *no_imagenet))
