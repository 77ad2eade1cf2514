"""What is read from files and settings, what is healthy, and how the whole is wired."""

import asyncio
import json
import sys
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from gateway import __main__ as wiring
from gateway import messages, scope, shaping, thresholds
from gateway.health import LIVE, Readiness
from gateway.questions import _CYRILLIC, _FORBIDDEN, language_of
from gateway.service import NAME
from gateway.shipped import ROOT
from gateway.words import same
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.settings import Settings

BIDI = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}


def test_the_shipped_thresholds_know_the_default_models() -> None:
    shipped = thresholds.load(ROOT / Settings().thresholds)
    assert Settings().reranker_model in shipped.rerank
    assert Settings().embedder_model in shipped.degraded


@pytest.mark.parametrize("score", [0, -0.1, 1.1])
def test_a_threshold_that_lets_everything_or_nothing_through_is_refused(tmp_path: Path, score: float) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"rerank": {"m": {"score": score}}}))
    with pytest.raises(ValueError, match="above 0"):
        thresholds.load(file)


def test_the_shipped_messages_are_there_in_both_languages() -> None:
    gates = scope.load(ROOT / Settings().scope)
    shipped = messages.load(ROOT / Settings().messages, gates.deferrals)
    assert shipped.deferral("individual_patient", "ru") != shipped.deferral("unknown gate", "ru")


def test_a_missing_message_is_named(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    file.write_text(json.dumps({"en": {"insufficient_evidence": "x", "out_of_scope": "y"}}))
    with pytest.raises(ValueError, match=r"ru\.insufficient_evidence"):
        messages.load(file)


def test_the_settings_hash_moves_with_what_shapes_an_answer_and_only_with_that() -> None:
    one = shaping.sha256(Settings())
    assert one == shaping.sha256(replace(Settings(), query_cache=1))
    assert one != shaping.sha256(replace(Settings(), temperature=0.2))


@pytest.mark.parametrize(
    ("text", "language"),
    [("What is BI-RADS?", "en"), ("Что такое BI-RADS?", "ru"), ("МРТ: протокол T2 FLAIR", "ru"), ("5?", "en"),
     ("Is the term «доза» defined in ICRP 103 and elsewhere?", "en")],
)  # fmt: skip
def test_the_language_is_told_by_script(text: str, language: str) -> None:
    assert language_of(text) == language


def test_what_no_question_may_hold_is_all_control_characters_and_all_that_reorder() -> None:
    every = list(map(chr, range(sys.maxunicode + 1)))
    control = {sign for sign in every if unicodedata.category(sign) == "Cc"} - set("\t\n\r")
    turning = {sign for sign in every if unicodedata.bidirectional(sign) in BIDI}
    assert {sign for sign in every if _FORBIDDEN.search(sign)} == control | turning


def test_cyrillic_letters_are_those_that_are_letters() -> None:
    block = list(map(chr, range(0x400, 0x500)))
    assert set(_CYRILLIC.findall("".join(block))) == {sign for sign in block if sign.isalpha()}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [("доза", "дозы", True), ("годовой", "годового", True), ("limit", "limits", True),
     ("scan", "scar", False), ("contrast", "contraindicated", False),
     ("hypertension", "hypotension", False), ("дозе", "дома", False),
     ("irradiation", "irradiated", True), ("increase", "decrease", False)],
)  # fmt: skip
def test_forms_of_one_word_are_the_same(one: str, other: str, equal: bool) -> None:
    assert same(one, other) is equal
    assert same(other, one) is equal


class Board:
    """Remembers what was reported last."""

    def __init__(self) -> None:
        self.there = {"retrieval": False, "embedder": False}
        self.seen: dict[str, bool] = {}
        self.readiness = Readiness({name: self.check(name) for name in self.there}, self.report, "service")

    def check(self, name: str):  # type: ignore[no-untyped-def]
        async def there() -> bool:
            return self.there[name]

        return there

    async def report(self, name: str, there: bool) -> None:
        self.seen[name] = there


async def test_the_service_is_ready_once_all_was_there_and_then_as_long_as_the_index_is() -> None:
    board = Board()
    steps = [
        ({"retrieval": True, "embedder": False}, False),
        ({"retrieval": True, "embedder": True}, True),
        ({"retrieval": True, "embedder": False}, True),
        ({"retrieval": False, "embedder": True}, False),
        ({"retrieval": True, "embedder": True}, True),
    ]
    for there, serving in steps:
        board.there = there
        assert await board.readiness.once() is serving
        assert board.seen == {**there, "service": serving}


async def test_a_missing_model_keeps_the_service_waiting_only_so_long() -> None:
    board, now = Board(), [1.0]
    board.readiness.clock = lambda: now[0]
    board.there = {"retrieval": True, "embedder": False}
    assert await board.readiness.once() is False
    now[0] += board.readiness.patience
    assert await board.readiness.once() is True


async def test_a_gateway_without_anything_behind_it_lives_says_what_it_misses_and_is_not_ready() -> None:
    settings = Settings(
        gateway_address="127.0.0.1:0", retrieval_address="127.0.0.1:1", embedder_url="127.0.0.1:1",
        reranker_url="127.0.0.1:1", generator_url="127.0.0.1:1", metrics_host="", reflection=True,
        insecure_dev=True,
    )  # fmt: skip
    async with wiring.running(settings) as server:
        async with aio.insecure_channel(f"127.0.0.1:{server.health_port}") as channel:
            health = health_pb2_grpc.HealthStub(channel)

            async def serves(name: str) -> bool:
                reply = await health.Check(health_pb2.HealthCheckRequest(service=name))
                return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)

            await asyncio.sleep(0.1)
            assert await serves(LIVE)
            assert not await serves("")
        async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            info = await AssistantServiceStub(channel).GetInfo(wire.GetInfoRequest(), timeout=10)
        await server.stop()
    assert [model.name for model in info.models] == ["e5_small", "lexical_late_interaction", "extractive"]
    assert info.index_generation == ""
    assert NAME.endswith("AssistantService")
