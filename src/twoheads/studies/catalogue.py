"""The studies, in one table: name, title, function, and the published tables to compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from twoheads.studies.calibration import calibration
from twoheads.studies.confidence_ratios import confidence_ratios
from twoheads.studies.context import Context, Result
from twoheads.studies.error_rates import error_rates
from twoheads.studies.independence import independence
from twoheads.studies.individuals import individuals
from twoheads.studies.learning_curves import learning_curves
from twoheads.studies.overview import overview


@dataclass(frozen=True)
class Study:
    """One study.

    Attributes
    ----------
    title : str
        Its heading on the page of all studies.
    run : callable
        From a `Context` to a `Result`.
    published : mapping of str to str
        The published tables it reproduces: their labels in the paper's source, and titles.
    has_curves : bool
        Whether its numbers are curves over the number of labels, which the page shows as tables.
    """

    title: str
    run: Callable[[Context], Result]
    published: Mapping[str, str] = field(default_factory=dict)
    has_curves: bool = False


#: The studies by name, in the order that ``all`` runs them.
CATALOGUE = {
    "overview": Study("Figure 1: human, model and combination", overview, {"fig:example": "Figure 1"}),
    "error-rates": Study(
        "Error rates",
        error_rates,
        {
            "table:cifar10_error_rates": "Error rates on CIFAR-10H",
            "table:imagenet_error_rates_vgg19": "Error rates, VGG-19 on ImageNet-16H",
            "table:imagenet_error_rates_googlenet": "Error rates, GoogLeNet on ImageNet-16H",
        },
    ),
    "calibration": Study(
        "Calibration",
        calibration,
        {
            "table:cifar_calibration_mainpaper": "Calibration on CIFAR-10H, main paper",
            "table:cifar_calibration_appendix": "Calibration on CIFAR-10H, appendix",
            "table:imagenet_vgg19_calibration_appendix": "Calibration, VGG-19 on ImageNet-16H",
            "table:imagenet_googlenet_calibration_appendix": "Calibration, GoogLeNet on ImageNet-16H",
        },
    ),
    "learning-curves": Study("Learning curves", learning_curves, has_curves=True),
    "confidence-ratios": Study("Confidence ratios", confidence_ratios),
    "independence": Study(
        "Conditional independence", independence, {"tab:cmi": "Conditional and unconditional mutual information"}
    ),
    "individuals": Study(
        "Individuals",
        individuals,
        {
            "table:cifar_individual_confusion": "Individuals on CIFAR-10H",
            "table:imagenet_individual_confusion_vgg19": "Individuals, VGG-19 on ImageNet-16H",
            "table:imagenet_individual_confusion_googlenet": "Individuals, GoogLeNet on ImageNet-16H",
        },
    ),
}
