"""Steps and bounds on the probability simplex; pure tensor maths.

Weights are handled as their logarithms, in float64: a weight of e^-10000 is as good as any other
and can grow back, where the weight itself would have been rounded to zero and lost. Only an exact
zero (logarithm minus infinity) stays zero: that unit was left out on purpose.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_LOWEST = -1e30  # no logarithm is lower: sums over millions of units stay inside float32
_BISECTIONS = 2200  # more than float64 can tell apart, whatever the bracket
_FAR = 1e3  # beside a number this large, digits of a logarithm near zero are rounded away


def mirror_step(log_weights: Tensor, gradient: Tensor, *, step_size: float) -> Tensor:
    """Entropic mirror descent on the simplex (eq. mirror_descent), in log space.

    Args:
        log_weights: Logarithms of the current weights, shape `(units,)`.
        gradient: Derivative of the target's loss along each weight, shape `(units,)`.
        step_size: η of the paper.

    Returns:
        Logarithms of the new weights, which sum to one.

    Example:
        >>> half = torch.tensor([0.5, 0.5]).log()
        >>> mirror_step(half, torch.tensor([-1.0, 1.0]), step_size=1.0).exp()
        tensor([0.8808, 0.1192])
    """
    present = log_weights > -math.inf
    if not bool(present.any()):
        return log_weights
    moved = log_weights - _products(gradient, step_size, present=present)
    logs = torch.log_softmax(moved, dim=0)
    return torch.where(present, logs.clamp(min=_LOWEST), logs)


def _products(gradient: Tensor, step_size: float, *, present: Tensor) -> Tensor:
    """step_size · gradient, up to a constant, which makes no difference to a step.

    Large products would round away the digits of the weights, or overflow. They are then taken
    from the gradient's distance to the best unit's: only units that end with nothing have large
    ones.
    """
    products = step_size * gradient
    if bool((products[present].abs() <= _FAR).all()):
        return products
    return step_size * (gradient - gradient[present].min())


def anchored(log_weights: Tensor, initial: Tensor, *, share: float) -> Tensor:
    """Log weights moved a share of the way back to the initial ones.

    Example:
        >>> now, before = torch.tensor([0.9, 0.1]).log(), torch.tensor([0.5, 0.5]).log()
        >>> anchored(now, before, share=1.0).exp()
        tensor([0.5000, 0.5000])
    """
    # Where one is the logarithm of zero there is nothing to move, and inf - inf is no number.
    held = (log_weights == initial) | torch.isinf(log_weights) | torch.isinf(initial)
    return torch.where(held, log_weights, torch.lerp(log_weights, initial, share))


def bounded(log_weights: Tensor, *, beta: float, base: Tensor | None = None) -> Tensor:
    """The weights of W_β = {ω : ω_t ≤ β ω_u for all t, u} nearest in relative entropy.

    With `base`, logarithms of other weights ω⁰, the bound is on the ratios ω_t / ω⁰_t instead, and
    both sides below are sums over ω⁰: units of different sizes may keep the ratio of their sizes.

    That projection clips the weights to an interval [a, βa] and normalises. Its optimality
    condition, with l the log weights and x = log a, is

        Σ (x − l_t)₊  =  β Σ (l_t − log β − x)₊

    whose two sides move in opposite directions with x, so bisection finds it. A weight of exactly
    zero means that its unit was left out on purpose: it stays zero and does not count.

    Example:
        >>> bounded(torch.tensor([0.98, 0.01, 0.01]).log(), beta=4.0).exp()
        tensor([0.6667, 0.1667, 0.1667])
    """
    present = log_weights > -math.inf
    logs = log_weights[present]
    counts = 1.0 if base is None else base[present].exp()
    if base is not None:
        logs = logs - base[present]
    width = math.log(beta)
    spread = 0.0 if logs.numel() == 0 else float(logs.max() - logs.min())
    if spread <= width:
        return log_weights
    low, high = float(logs.min()) - width, float(logs.max())
    finest = 0.0 if logs.dtype == torch.float64 else 0.01 * torch.finfo(logs.dtype).eps
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if middle == low or high - low < finest:
            break
        raised = float(((middle - logs).clamp(min=0) * counts).sum())
        lowered = beta * float(((logs - width - middle).clamp(min=0) * counts).sum())
        found = (middle, high) if raised < lowered else (low, middle)
        if found == (low, high):  # they are neighbours, and the middle was rounded to one of them
            break
        low, high = found
    # Far from zero, `low + width` would be rounded to `low`.
    far = spread > _FAR
    logs = (logs - low).clamp(0, width) if far else logs.clamp(min=low, max=low + width)
    clipped = log_weights.clone()
    clipped[present] = logs if base is None else logs + base[present]
    return torch.log_softmax(clipped, dim=0)


def bounded_rows(log_weights: Tensor, *, beta: float) -> Tensor:
    """As `bounded`, of many weights at once.

    Both sides of the condition are linear in x between the values l_t and l_t − log β. So x is
    found among those, and then between two of them.

    Args:
        log_weights: Shape `(rows, units)`.
        beta: As for `bounded`.

    Example:
        >>> bounded_rows(torch.tensor([[0.98, 0.01, 0.01]]).log(), beta=4.0).exp()
        tensor([[0.6667, 0.1667, 0.1667]])
    """
    present = log_weights > -math.inf
    width = math.log(beta)
    logs = torch.log_softmax(log_weights, dim=-1)
    least = logs.where(present, torch.inf).amin(-1, keepdim=True)
    inside = logs.amax(-1, keepdim=True) - least <= width
    # Those that are left out stand at the least one, where they raise nothing above the others'
    # places and are counted out below.
    logs, counts = logs.where(present, least), present.to(logs)
    order = logs.argsort(-1)
    ordered, counted = logs.gather(-1, order), counts.gather(-1, order)
    corners = torch.cat([ordered, ordered - width], -1).sort(-1).values
    off = _sum_above(corners, ordered, counted)
    off = off - beta * _sum_above(-corners, (width - ordered).flip(-1), counted.flip(-1))
    # The last corner at which raised is below lowered, and the next.
    at = ((off < 0).sum(-1, keepdim=True) - 1).clamp(0, corners.shape[-1] - 2)
    (low, high), (below, above) = (
        (values.gather(-1, at), values.gather(-1, at + 1)) for values in (corners, off)
    )
    lowest = low - below * (high - low) / (above - below).where(above > below, 1.0)
    clipped = logs.clamp(min=lowest, max=lowest + width).where(present, -torch.inf)
    return torch.where(inside, log_weights, torch.log_softmax(clipped, dim=-1))


def _sum_above(points: Tensor, ordered: Tensor, counts: Tensor) -> Tensor:
    """Σ c_t (x − l_t)₊ at each of the points x, of l_t in ascending order."""
    number = torch.searchsorted(ordered.contiguous(), points.contiguous())
    sums = [torch.nn.functional.pad(v.cumsum(-1), (1, 0)) for v in (counts, counts * ordered)]
    many, total = (values.gather(-1, number) for values in sums)
    return points * many - total


def with_share(log_weights: Tensor, members: Tensor, *, low: float, high: float) -> Tensor:
    """Bring the total weight of some units into [low, high], the others sharing what is left.

    Ratios inside both groups are kept, which is the projection in relative entropy.

    Args:
        log_weights: Logarithms of the weights, shape `(units,)`.
        members: Which units' total is bounded; boolean, shape `(units,)`.
        low: Smallest total allowed.
        high: Largest total allowed.

    Example:
        >>> logs = torch.tensor([0.9, 0.06, 0.04]).log()
        >>> with_share(logs, torch.tensor([True, False, False]), low=0.0, high=0.5).exp()
        tensor([0.5000, 0.3000, 0.2000])
    """
    if not bool(members.any()) or bool(members.all()):
        return log_weights
    inside = torch.logsumexp(log_weights[members], dim=0)
    outside = torch.logsumexp(log_weights[~members], dim=0)
    share = float(inside.exp())
    wanted = min(max(share, low), high)
    if wanted == share or -math.inf in (float(inside), float(outside)):
        return log_weights  # it is there already, or one side was left out on purpose
    # log1p keeps 1 - wanted exact where the share is tiny; log(0) is -inf, a unit left out.
    log_in = math.log(wanted) if wanted > 0 else -math.inf
    log_out = math.log1p(-wanted) if wanted < 1 else -math.inf
    if min(float(inside), float(outside)) < -_FAR:
        # One by one: beside the total of a side that is all but lost, the share is rounded away.
        within = log_weights - torch.where(members, inside, outside)
        shares = log_weights.new_tensor([log_out, log_in])
        return within + shares[members.long()]
    return log_weights + torch.where(members, log_in - inside, log_out - outside)


def entropy(log_weights: Tensor) -> float:
    """Entropy of the weights in nats: 0 when one unit has everything, log n when all are equal.

    Example:
        >>> round(entropy(torch.tensor([0.5, 0.5]).log()), 4)
        0.6931
    """
    terms = log_weights.exp() * log_weights
    return -float(torch.where(log_weights == -math.inf, 0.0, terms).sum())


def effective_sample_size(log_weights: Tensor, sizes: Tensor) -> float:
    """N_ω = (Σ ω_t² / n_t)⁻¹: how many examples the weighted sources are worth.

    It is Σ n_t when the weights are proportional to the sizes, and n_t when task t has all weight.

    Example:
        >>> logs = torch.tensor([0.25, 0.75], dtype=torch.float64).log()
        >>> round(effective_sample_size(logs, torch.tensor([100.0, 300.0])))
        400
    """
    return 1.0 / float(((2 * log_weights).exp() / sizes).sum())


def ratio(log_weights: Tensor) -> float:
    """The smallest β for which the weights lie in W_β, leaving out weights of exactly zero.

    Example:
        >>> round(ratio(torch.tensor([0.2, 0.8]).log()), 4)
        4.0
    """
    present = log_weights[log_weights > -math.inf]
    spread = float(present.max() - present.min())
    return math.exp(spread) if spread < 700 else math.inf
