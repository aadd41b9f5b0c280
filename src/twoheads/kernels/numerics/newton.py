"""The minimum of a smooth convex function."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

from twoheads.kernels.arrays import Floats

#: With more parameters than this, the Hessian takes too much memory.
NEWTON_LIMIT = 512


def near_minimum(
    loss: Callable[[Floats], tuple[float, Floats]],
    curvature: Callable[[Floats], Floats],
    centre: Floats,
    precision: Floats,
    *,
    start: Floats | None = None,
    tol: float = 1e-12,
) -> Floats:
    """Find the minimum of ``loss(x) + sum(precision / 2 * (x - centre)^2)``.

    Newton's method, with steps halved until the function decreases; L-BFGS if there are too many parameters.

    loss       value and gradient (shape of x) of a convex function
    curvature  its Hessian, (x.size, x.size)
    centre     minimum of the penalty
    precision  strength of the penalty, not negative, of the centre's shape
    start      where Newton's method begins; None for the centre
    tol        it ends with the step that promises to lower the function by less than this share
    """

    def total(x: Floats) -> tuple[float, Floats]:
        value, gradient = loss(x)
        pull = precision * (x - centre)
        return float(value + 0.5 * np.vdot(pull, x - centre)), np.asarray(gradient + pull)

    if centre.size > NEWTON_LIMIT:
        return _quasi_newton(total, centre, np.where(precision > 0.0, precision, 1.0) ** -0.5)
    x = centre if start is None else start
    value, gradient = total(x)
    for _ in range(100):
        step = _newton_step(curvature(x) + np.diag(precision.ravel()), gradient.ravel()).reshape(x.shape)
        fall = -float(np.vdot(gradient, step))
        if fall <= tol * max(value, 1.0):
            return x + step
        size = 1.0
        ahead = total(x + step)
        while ahead[0] > value - 1e-4 * size * fall and size > 1e-9:
            size /= 2
            ahead = total(x + size * step)
        x = x + size * step
        value, gradient = ahead
    return x


def _newton_step(hessian: Floats, gradient: Floats) -> Floats:
    # In flat directions (a shift of all intercepts) the gradient is 0 too: a small ridge makes the step unique.
    jitter = np.trace(hessian) / len(hessian) * np.eye(len(hessian))
    for size in (1e-12, 1e-9, 1e-6, 1e-3, 1.0):
        with suppress(LinAlgError):
            return -np.asarray(cho_solve(cho_factor(hessian + size * jitter), gradient))
    return np.zeros_like(gradient)  # only rounding is left


def _quasi_newton(total: Callable[[Floats], tuple[float, Floats]], start: Floats, scale: Floats) -> Floats:
    """L-BFGS from the start, in units of ``scale``."""

    def flat(move: Floats) -> tuple[float, Floats]:
        value, gradient = total(start + scale * move.reshape(start.shape))
        return value, (scale * gradient).ravel()

    found = minimize(
        flat, np.zeros(start.size), jac=True, method="L-BFGS-B", options={"maxiter": 1000, "ftol": 1e-12, "gtol": 0.0}
    )
    return np.asarray(start + scale * found.x.reshape(start.shape))
