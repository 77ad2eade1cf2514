"""Fits the network of `alignment.py` on what `gather.py` read, and sets the judge's silence.

    .venv-models/bin/python model_repository/extractive/fit/train.py --write

Needs PyTorch (`make setup-torch`). The statements of each question and silence share one softmax: the
statement that answers should win, or silence where none does; now and then the answers are taken away, so
that what is left must be silence. Silence is then set on the calibration questions, which are not fitted on.
About ten minutes of one core per member.
"""

import argparse
import hashlib
import json
import math
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent / "1")]

from alignment import LEAST_WEIGHT, SPREAD  # noqa: E402
from evidence import HERE as IN_STATEMENT  # noqa: E402
from evidence import NAMES  # noqa: E402
from read_tables import Asked, Tables  # noqa: E402

WIDTH, DROPOUT, LOST_TOKENS = 96, 0.2, 0.05
RATE, SHRINK, WARM, LEAST_RATE = 1e-3, 0.05, 50, 0.05
QUESTIONS_A_STEP, STATEMENTS = 8, 12
# How often the answers of a question are taken away; more often where there are many questions of the kind.
TAKEN_AWAY = {"fitting": 0.15, "public": 0.4}
# In the last third of the passes only this part of the public questions is seen: ours come last.
PUBLIC_AT_LAST = 0.25
# This part of the calibration questions shall be answered.
ANSWERED = 0.92


class Network(nn.Module):
    """As `alignment.Alignment`, for a batch of statements of one question: shapes [statements, tokens, …]."""

    def __init__(self, dimension: int, middle: Tensor, spread: Tensor) -> None:
        super().__init__()
        features = len(NAMES)
        self.project, self.norm = nn.Linear(dimension, WIDTH), nn.LayerNorm(WIDTH)
        self.place = nn.Parameter(torch.randn(4, WIDTH))
        self.sharpness, self.silence = nn.Parameter(torch.tensor(2.0)), nn.Parameter(torch.zeros(1))
        self.compare = layers(4 * WIDTH + 3, WIDTH, WIDTH)
        self.needed, self.missed = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 1)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.out, self.features = layers(4 * WIDTH + features, WIDTH, 1), nn.Linear(features, 1)
        self.drop = nn.Dropout(DROPOUT)
        self.register_buffer("middle", middle)
        self.register_buffer("spread", spread)

    def forward(
        self, question: Tensor, weights: Tensor, states: Tensor, places: Tensor, rows: Tensor
    ) -> Tensor:
        """question: [asked, dimension]; weights: [asked]; places: -1 where a row is shorter. Log odds,
        [statements]."""
        there, here = self.seen(places), places == IN_STATEMENT
        importance = torch.log(weights.clamp(min=LEAST_WEIGHT))
        asking = self.norm(self.project(self.drop(question)))
        standing = self.norm(self.project(self.drop(states)))
        placed = standing + self.place[places.clamp(min=0)]
        cosines = torch.einsum("ad,std->sat", question, states)
        spread = cosines * SPREAD * torch.relu(self.sharpness)
        odds = torch.einsum("aw,stw->sat", asking, placed) / math.sqrt(WIDTH) + spread
        attention = torch.softmax(odds.masked_fill(~there[:, None], -torch.inf), 2)
        near = [cosines.masked_fill(~some[:, None], -1).amax(2) for some in (there, here)]
        shares = torch.stack([*near, (attention * here[:, None]).sum(2)], 2)
        compared = self.compared(asking, attention @ placed, shares)
        wanted = torch.softmax(importance, 0) @ asking
        fitting = placed @ self.key(wanted) / math.sqrt(WIDTH)
        share = torch.softmax(fitting.masked_fill(~here, -torch.inf), 1)
        offered = torch.einsum("st,stw->sw", share, standing)
        need = torch.softmax(self.needed(compared)[..., 0] + importance, 1)
        miss = torch.softmax(self.missed(compared)[..., 0], 1)
        sums = [torch.einsum("sa,saw->sw", part, compared) for part in (need, miss)]
        scaled = (rows - self.middle) / self.spread
        joined = torch.cat([*sums, offered, wanted * offered, scaled], 1)
        return self.out(joined)[:, 0] + self.features(scaled)[:, 0] - self.silence

    def seen(self, places: Tensor) -> Tensor:
        """Which tokens there are; in training a few around the statement are hidden."""
        there = places >= 0
        if self.training:
            there &= (places == IN_STATEMENT) | (torch.rand(places.shape) > LOST_TOKENS)
        return there

    def compared(self, asking: Tensor, found: Tensor, shares: Tensor) -> Tensor:
        asking = asking.expand_as(found)
        pair = torch.cat([asking, found, asking * found, (asking - found).abs(), shares], 2)
        return nn.functional.gelu(self.compare(pair), approximate="tanh")


def layers(inputs: int, inner: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, inner), nn.GELU(approximate="tanh"), nn.Dropout(DROPOUT), nn.Linear(inner, outputs)
    )


class Step(NamedTuple):
    """A question in one step: its statements that are shown; the first `answers` of them answer it."""

    asked: Asked
    shown: list[int]
    answers: int


def main() -> None:
    options = arguments()
    torch.set_num_threads(options.threads)
    tables = {kind: Tables(options.cache / f"statements-{kind}.npz") for kind in (*TAKEN_AWAY, "calibration")}
    members = [fitted(tables, seed, options.passes) for seed in range(options.members)]
    measured = judged(members, tables["calibration"])
    print(json.dumps(measured, indent=1))
    if options.write:
        write(members, measured)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=ROOT / "var" / "fit")
    parser.add_argument("--members", type=int, default=2, help="networks whose log odds are averaged")
    parser.add_argument("--passes", type=int, default=4, help="how often each question is seen")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="replace alignment.npz and judge.json")
    return parser.parse_args()


def fitted(tables: dict[str, Tables], seed: int, passes: int) -> Network:
    torch.manual_seed(seed)
    draw = random.Random(seed)  # noqa: S311 - a fit that can be made again
    rows = torch.from_numpy(tables["fitting"].rows)
    network = Network(tables["fitting"].dimension, rows.mean(0), rows.std(0) + 1e-3)
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=SHRINK)
    plan = [shown(tables, draw, last=number >= passes * 2 // 3) for number in range(passes)]
    total, done = sum(len(one) // QUESTIONS_A_STEP for one in plan), 0
    for number, questions in enumerate(plan):
        losses = []
        for first in range(0, len(questions) - QUESTIONS_A_STEP + 1, QUESTIONS_A_STEP):
            done += 1
            for group in optimiser.param_groups:
                group["lr"] = RATE * min(1, done / WARM) * max(LEAST_RATE, 1 - done / total)
            losses.append(stepped(network, optimiser, questions[first : first + QUESTIONS_A_STEP], draw))
        print(f"member {seed}, pass {number}: loss {np.mean(losses):.3f}", flush=True)
    return network.eval()


def shown(tables: dict[str, Tables], draw: random.Random, *, last: bool) -> list[tuple[Asked, float]]:
    """The questions of one pass in random order, each with how often its answers are taken away."""
    own = [(asked, TAKEN_AWAY["fitting"]) for asked in tables["fitting"].questions if not asked.lost]
    public = [(asked, TAKEN_AWAY["public"]) for asked in tables["public"].questions if not asked.lost]
    if last:
        public = draw.sample(public, int(len(public) * PUBLIC_AT_LAST))
    return draw.sample(own + public, len(own) + len(public))


def stepped(
    network: Network,
    optimiser: torch.optim.Optimizer,
    some: Sequence[tuple[Asked, float]],
    draw: random.Random,
) -> float:
    network.train()
    optimiser.zero_grad()
    losses = [loss(network, chosen(asked, taken, draw)) for asked, taken in some]
    total = torch.stack(losses).mean()
    total.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()
    return float(total.detach())


def chosen(asked: Asked, taken: float, draw: random.Random) -> Step:
    """All statements that answer, and the nearest of the others with a few more."""
    answers = [place for place, right in enumerate(asked.answers) if right]
    others = [place for place, right in enumerate(asked.answers) if not right]
    near = others[: STATEMENTS * 3 // 4]
    far = others[len(near) :]
    some = near + draw.sample(far, min(STATEMENTS - len(near), len(far)))
    if some and draw.random() < taken:
        answers = []
    return Step(asked, answers + some, len(answers))


def loss(network: Network, step: Step) -> Tensor:
    odds = torch.cat([network(*step.asked.batch(step.shown)), torch.zeros(1)])
    chances = torch.log_softmax(odds, 0)
    return -(torch.logsumexp(chances[: step.answers], 0) if step.answers else chances[-1])


def odds_of(members: Sequence[Network], asked: Asked) -> np.ndarray:
    batch = asked.batch(list(range(len(asked.answers))))
    with torch.no_grad():
        return torch.stack([network(*batch) for network in members]).mean(0).numpy()


def judged(members: Sequence[Network], tables: Tables) -> dict[str, float]:
    """Silence, and how well the calibration questions come out with it."""
    best, right = [], []
    for asked in tables.questions:
        odds = odds_of(members, asked)
        best.append(odds.max())
        right.append(asked.answers[odds.argmax()])
    answerable = np.array([asked.answerable for asked in tables.questions])
    scores = np.array(best)
    silence = float(np.quantile(scores[answerable], 1 - ANSWERED))
    return {
        "silence": round(silence, 3),
        "answered_of_answerable": round(float((scores[answerable] >= silence).mean()), 3),
        "refused_of_unanswerable": round(float((scores[~answerable] < silence).mean()), 3),
        "first_quote_is_evidence": round(float(np.array(right)[answerable].mean()), 3),
        "area_under_curve": round(float((scores[answerable][:, None] > scores[~answerable]).mean()), 3),
    }


def write(members: Sequence[Network], measured: dict[str, float]) -> None:
    stored = {
        f"{number}.{name}": value.numpy().astype(np.float16 if value.numel() > len(NAMES) else np.float32)
        for number, network in enumerate(members)
        for name, value in network.state_dict().items()
    }
    np.savez_compressed(HERE.parent / "1" / "alignment.npz", features=json.dumps(NAMES), **stored)
    about = {
        "made_by": "model_repository/extractive/fit/train.py --write",
        "data_sha256": dict(digests()),
        "measured_on": "samples/calibration.jsonl",
    }
    (HERE.parent / "1" / "judge.json").write_text(json.dumps(about | measured, indent=1) + "\n", "utf-8")


def digests() -> Iterator[tuple[str, str]]:
    for name in ("samples/fitting.jsonl", "samples/calibration.jsonl"):
        yield name, hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
