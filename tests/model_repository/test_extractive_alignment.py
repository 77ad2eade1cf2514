"""The network that judges statements: numpy serves what PyTorch fitted, statement by statement."""

# ruff: noqa: E402 - what follows needs PyTorch

import sys
from pathlib import Path

import numpy as np
import pytest

from cli.model_environment import MODEL_REPOSITORY

torch = pytest.importorskip("torch", reason="PyTorch is in the model servers' environment: make test-torch")
sys.path.append(str(MODEL_REPOSITORY / "extractive" / "fit"))

import train
from alignment import Alignment
from e5_encoder import Floats
from evidence import HERE, NAMES, Evidence
from prompt import Source
from question import Question
from read_tables import Asked
from statements import Statement

DIMENSION = 32
RANDOM = np.random.default_rng(5)


def states(tokens: int) -> Floats:
    made: Floats = RANDOM.normal(size=(tokens, DIMENSION)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def question(tokens: int) -> Question:
    weights = RANDOM.uniform(0, 3, tokens).astype(np.float32)
    none = np.zeros(DIMENSION, np.float32)
    return Question((), none, states(tokens), np.zeros(tokens, np.int64), weights, none)


def statement(tokens: int, here: int) -> Evidence:
    places = np.concatenate([np.full(here, HERE), RANDOM.integers(0, HERE, tokens - here)])
    row = RANDOM.normal(size=len(NAMES)).astype(np.float32)
    where = Statement(0, 1, None, (), None)
    return Evidence(Source(1, "", "", "", "text"), where, row, states(tokens), places)


def network(seed: int) -> "train.Network":
    torch.manual_seed(seed)
    middle, spread = torch.randn(len(NAMES)), torch.rand(len(NAMES)) + 0.5
    made: train.Network = train.Network(DIMENSION, middle, spread).eval()
    return made


def served(fitted: "train.Network") -> Alignment:
    weights = {name: value.numpy().copy() for name, value in fitted.state_dict().items()}
    return Alignment(weights, weights.pop("middle"), weights.pop("spread"))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_served_is_what_was_fitted(seed: int) -> None:
    fitted, asked = network(seed), question(7)
    offered = [statement(tokens, here) for tokens, here in ((1, 1), (40, 3), (160, 96), (12, 12))]
    batch = [
        torch.nn.utils.rnn.pad_sequence([torch.tensor(one.states) for one in offered], batch_first=True),
        torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(one.places) for one in offered], batch_first=True, padding_value=-1
        ),
        torch.tensor(np.stack([one.row for one in offered])),
    ]
    with torch.no_grad():
        expected = fitted(torch.tensor(asked.states), torch.tensor(asked.token_weights), *batch).numpy()
    found = served(fitted).odds(asked, offered)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_the_order_of_tokens_does_not_matter_but_their_place_does() -> None:
    alignment, asked, one = served(network(1)), question(5), statement(20, 6)
    order = RANDOM.permutation(20)
    turned = one._replace(states=one.states[order], places=one.places[order])
    assert alignment.odds(asked, [turned]) == pytest.approx(alignment.odds(asked, [one]), abs=1e-4)
    moved = one._replace(places=np.full(20, HERE))
    assert alignment.odds(asked, [moved]) != pytest.approx(alignment.odds(asked, [one]), abs=1e-3)


def test_members_are_kept_apart_in_the_file_and_other_features_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = [network(1), network(2)]
    monkeypatch.setattr(train, "HERE", tmp_path / "fit")
    (tmp_path / "1").mkdir()
    train.write(members, {"silence": 0.5})
    loaded = Alignment.load(tmp_path / "1" / "alignment.npz")
    asked, one = question(5), statement(20, 6)
    for fitted, kept in zip(members, loaded, strict=True):
        assert kept.odds(asked, [one]) == pytest.approx(served(fitted).odds(asked, [one]), abs=0.05)
    monkeypatch.setattr(train, "NAMES", ("another",))
    train.write(members, {"silence": 0.5})
    with pytest.raises(ValueError, match="other features"):
        Alignment.load(tmp_path / "1" / "alignment.npz")


def offered(asked: Question, one: Evidence) -> Asked:
    """A question with one statement, which answers it."""
    tensor = torch.tensor
    return Asked(
        "q",
        True,
        [True],
        tensor(asked.states),
        tensor(asked.token_weights),
        [tensor(one.states)],
        [torch.arange(len(one.states))],
        [tensor(one.places)],
        tensor(one.row)[None],
    )


@pytest.mark.parametrize(("answers", "wins"), [(1, True), (0, False)])
def test_what_answers_wins_and_without_it_silence_does(answers: int, wins: bool) -> None:
    learner, asked = network(3), offered(question(6), statement(30, 8))
    optimiser = torch.optim.AdamW(learner.parameters(), lr=1e-2)
    for _ in range(60):
        optimiser.zero_grad()
        train.loss(learner, train.Step(asked, [0], answers)).backward()
        optimiser.step()
    with torch.no_grad():
        assert bool(learner(*asked.batch([0]))[0] > 0) is wins
