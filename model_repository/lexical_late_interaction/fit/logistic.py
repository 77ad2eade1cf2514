"""Fits the weights: first for order within each question's candidates, then for being a probability."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

_SHRINK, _STEPS, _RATE = 1e-3, 600, 0.05


class Candidates(NamedTuple):
    """One question's candidates: rows [candidates, features], which of them answer and which are in the
    question's script, [candidates]."""

    rows: Doubles
    answers: NDArray[np.bool_]
    same_script: NDArray[np.bool_]


def fitted(groups: list[Candidates]) -> dict[bool, Doubles]:
    """For candidates in the question's script, and in the other one: [features + 1], weights and a constant.

    Both are fitted at once, since one question has candidates of both.
    """
    weights = _fitted([group._replace(rows=apart(group)) for group in groups])
    width = groups[0].rows.shape[1]
    same, other, shift, constant = np.split(weights, [width, 2 * width, 2 * width + 1])
    return {True: np.append(same, constant), False: np.append(other, constant + shift)}


def apart(group: Candidates) -> Doubles:
    """Rows with room for two sets of weights, and for one more constant."""
    same = group.same_script[:, None].astype(np.float64)
    return np.concatenate([group.rows * same, group.rows * (1 - same), 1 - same], axis=1)


def score(group: Candidates, weights: dict[bool, Doubles]) -> Doubles:
    """Log odds of each candidate, [candidates]."""
    same, other = (group.rows @ weights[side][:-1] + weights[side][-1] for side in (True, False))
    odds: Doubles = np.where(group.same_script, same, other)
    return odds


def _fitted(groups: list[Candidates]) -> Doubles:
    every = np.concatenate([group.rows for group in groups])
    middle, spread = every.mean(axis=0), every.std(axis=0) + 1e-6
    scaled = [group._replace(rows=(group.rows - middle) / spread) for group in groups]
    order = _listwise([group for group in scaled if group.answers.any() and not group.answers.all()])
    answers = np.concatenate([group.answers for group in scaled])
    slope, constant = _probability(np.concatenate([group.rows for group in scaled]) @ order, answers)
    weights = slope * order / spread
    return np.append(weights, constant - weights @ middle)


def _listwise(groups: list[Candidates]) -> Doubles:
    """Softmax over each question's candidates, by Adam."""
    rows = np.concatenate([group.rows for group in groups])
    sizes = np.array([len(group.rows) for group in groups])
    starts, owner = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(groups)), sizes)
    wanted = np.concatenate([group.answers / group.answers.sum() for group in groups])
    weights, pace, size = (np.zeros(rows.shape[1]) for _ in range(3))
    for step in range(1, _STEPS + 1):
        scores = rows @ weights
        chances = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        chances /= np.add.reduceat(chances, starts)[owner]
        slope = rows.T @ (chances - wanted) / len(groups) + _SHRINK * weights
        pace, size = 0.9 * pace + 0.1 * slope, 0.999 * size + 0.001 * slope**2
        weights -= _RATE * (pace / (1 - 0.9**step)) / (np.sqrt(size / (1 - 0.999**step)) + 1e-8)
    return weights


def _probability(scores: Doubles, answers: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and constant of the logistic of `scores`, by Newton's method."""
    inputs = np.stack([scores, np.ones_like(scores)], axis=1)
    weights = np.zeros(2)
    for _ in range(50):
        chances = 1 / (1 + np.exp(-inputs @ weights))
        curve = (inputs * (chances * (1 - chances))[:, None]).T @ inputs + 1e-6 * np.eye(2)
        weights -= np.linalg.solve(curve, inputs.T @ (chances - answers))
    return float(weights[0]), float(weights[1])
