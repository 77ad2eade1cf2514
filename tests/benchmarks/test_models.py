"""What of the models' benchmark needs no Triton: rows, batches' arithmetic, and the query cache."""

import os
from pathlib import Path

import pytest

from benchmarks import cpu, models, peer_triton, peers
from benchmarks.direct import Took, direct
from cli import places
from cli.model_environment import ModelEnvironment
from evaluation.datasets import Dataset, Document, Query
from radrag.triton import ModelServer
from tests.benchmarks import triton


async def test_a_question_asked_again_takes_less_than_one_that_goes_to_the_server() -> None:
    async with triton.served() as (address, _):
        server = ModelServer(address, "model server")
        row = await models._query(server)
        await server.close()
    assert row["hit_ms"] < row["missed_ms"]


def test_a_ratio_is_one_rounds_and_rates_are_units_over_time() -> None:
    alone, served = (
        [Took(1.0, 1.0), Took(2.0, 1.0), Took(4.0, 2.0)],
        [
            Took(1.5, 1.0),
            Took(2.0, 1.1),
            Took(5.0, 1.8),
        ],
    )
    row = models._row(13, alone, served)
    assert row["in_process_per_second"] == 6.5
    assert row["triton_per_second"] == 6.5
    assert row["ratio"] == {"median": 1.25, "least": 1.0, "most": 1.5}
    assert row["cpu_ratio"] == {"median": 1.0, "least": 0.9, "most": 1.1}


async def test_whoever_begins_takes_turns_and_first_calls_do_not_count() -> None:
    calls = list[str]()

    async def alone(turn: int) -> Took:
        calls.append(f"alone {turn}")
        return Took(turn, turn)

    async def served(turn: int) -> None:
        calls.append(f"served {turn}")

    rounds, _ = await models._turns(alone, served, 2, [])
    assert calls == ["alone 0", "alone 0", "served 0", "served 1", "alone 1"]
    assert [one.clock for one in rounds] == [0, 1]


def mapped(pid: int) -> str:
    return Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")


async def test_the_model_files_run_in_a_session_of_their_own_with_the_model_servers_packages() -> None:
    async with direct("embedder") as process:
        took = await process.ask(["Doses are low."], "query: ")
        pid = process.pid
        assert os.getsid(pid) == pid
        assert cpu.members(pid) == {pid: "python"}
        assert cpu.seconds([pid]) > took.cpu > 0
        libraries = mapped(pid)
    assert str(ModelEnvironment().folder / "lib") in libraries
    assert str(places.ROOT / ".venv" / "lib") not in libraries


def test_the_documents_are_the_judged_ones_and_so_many_others() -> None:
    documents = [Document(str(number), "", f"text {number}") for number in range(10)]
    queries = [Query("a", "first?"), Query("b", "second?"), Query("c", "third?")]
    qrels = {"a": {"7": 1}, "b": {"2": 1, "7": 0}, "c": {"9": 1}}
    whole = Dataset("set", "test", documents, queries, qrels, "")
    asked, held = peers.chosen(whole, 2, 3)
    assert [query.id for query in asked] == ["a", "b"]
    assert [one.id for one in held] == ["2", "7", "0", "1", "3"]


def test_a_peer_sends_the_tensors_of_the_embedders_contract() -> None:
    sent = peer_triton.request("What?", "query")
    names = {one["name"]: one for one in sent["inputs"]}  # type: ignore[attr-defined]
    assert (names["TEXT"]["data"], names["TASK"]["data"]) == (["What?"], ["query"])
    assert names["SPANS"]["shape"] == [1, 0, 2]
    reply = {"outputs": [{"name": "TOKENS", "data": [1]}, {"name": "EMBEDDINGS", "data": [0.6, 0.8]}]}
    assert peer_triton.vector(reply) == [0.6, 0.8]  # type: ignore[arg-type]


def test_a_table_has_a_row_for_everybody() -> None:
    row = dict.fromkeys(peers.COLUMNS, 1)
    assert peers.table({"RadRAG": row, "haystack": row}).splitlines()[2:] == [
        "| RadRAG | 1 | 1 | 1 | 1 | 1 | 1 |",
        "| haystack | 1 | 1 | 1 | 1 | 1 | 1 |",
    ]


@pytest.mark.parametrize("file", ["peer_haystack", "peer_llamaindex", "peer_fastapi"])
def test_a_peer_stands_on_nothing_of_ours(file: str) -> None:
    text = (places.ROOT / "benchmarks" / f"{file}.py").read_text(encoding="utf-8")
    for room in ("radrag", "gateway", "retrieval", "ingest", "cli", "evaluation"):
        assert f"from {room}" not in text
        assert f"import {room}" not in text
