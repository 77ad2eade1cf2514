"""The process: killed in the middle it loses and doubles nothing; stopped, it is back in no time."""

import asyncio
import gc
import random
import signal
import time
import urllib.request
from pathlib import Path

import pytest
from grpc import aio

from radrag.retrieval.v1 import retrieval_pb2 as wire
from retrieval import __main__ as process_of_its_own
from tests.retrieval.making import EMBEDDER, TOPICS, Made, embedder_message, made, vector
from tests.retrieval.process import Process, points, rows, running
from tests.retrieval.running import room

WORDS = [f"word{n}" for n in range(200)]


def documents() -> list[list[Made]]:
    """Forty publications: thirty documents, then new versions of ten of them, some in another topic."""
    rng = random.Random(7)

    def text(n: int, version: int) -> list[str]:
        return [f"Document {n} version {version}: {' '.join(rng.choices(WORDS, k=30))}." for _ in range(6)]

    first = [made(f"d{n}", *text(n, 1), topic=TOPICS[n % 7]) for n in range(30)]
    second = [made(f"d{n}", *text(n, 2), topic=TOPICS[n // 2 % 7], valid_from=50) for n in range(10)]
    return [first, second]


async def publish_all(process: Process, waves: list[list[Made]], done: list[str]) -> None:
    """Publishes four at a time, wave after wave."""
    for wave in waves:
        gate = asyncio.Semaphore(4)

        async def one(document: Made, gate: asyncio.Semaphore = gate) -> None:
            async with gate:
                await process.stub.IndexDocument(document.messages(), timeout=120)
                done.append(document.header.document.document_id)

        await asyncio.gather(*(one(document) for document in wave))


async def test_killed_in_the_middle_of_40_publications_and_run_again_the_index_is_the_same(
    tmp_path: Path,
) -> None:
    waves = documents()
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    for path in (undisturbed, killed):
        path.mkdir()
    async with running(undisturbed) as process:
        await publish_all(process, waves, [])
        assert await process.end() == 0
    for enough in (5, 33):  # in the first wave, and among the new versions
        async with running(killed) as process:
            done: list[str] = []
            task = asyncio.create_task(publish_all(process, waves, done))
            while len(done) < enough:
                await asyncio.sleep(0.001)
            process.process.send_signal(signal.SIGKILL)
            # Before the channel is closed: a call that begins on a closed one fails otherwise.
            with pytest.raises((aio.AioRpcError, asyncio.CancelledError)):
                await task
            await process.end()
    async with running(killed) as process:
        await publish_all(process, waves, [])
        assert await process.end() == 0
    assert rows(killed) == rows(undisturbed)
    assert points(killed) == points(undisturbed)
    assert len(points(undisturbed)) == 40 * 12


async def test_it_is_ready_again_within_two_seconds_of_its_own_time(tmp_path: Path) -> None:
    rng = random.Random(3)
    async with room(tmp_path) as here:
        for topic in TOPICS:
            sections = [" ".join(rng.choices(WORDS, k=20)) + "." for _ in range(500)]
            await here.publish(made(f"long_{topic}", *sections, topic=topic))
    for number in (signal.SIGTERM, signal.SIGKILL):  # after a clean stop, then after a kill
        started = time.monotonic()
        async with running(tmp_path) as process:
            text = "word1 word2"
            found = await process.stub.Search(
                wire.SearchRequest(question=text, vector=vector(text), embedder=embedder_message(EMBEDDER))
            )
            took, own = time.monotonic() - started, process.own_seconds()
            assert len(found.parents) == 13
            assert own < 2, f"{own:.2f} s of processor time, {took:.2f} s on the clock"
            await process.end(number)


def test_garbage_is_collected_again_once_it_serves() -> None:
    gc.disable()
    try:
        process_of_its_own._swept()
        assert gc.isenabled()
        assert gc.get_freeze_count() > 1000
    finally:
        gc.unfreeze()
        gc.enable()


async def test_a_second_process_on_the_same_index_says_so_and_ends(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await here.publish(made("one", "One."))
    async with running(tmp_path):
        other = Process(tmp_path)
        await other.channel.close(None)
        assert await asyncio.to_thread(other.process.wait, 120) != 0
        assert "the index is open in another process" in (tmp_path / "log").read_text()
        other.log.close()


async def test_its_metrics_count_live_points_and_time_each_leg(tmp_path: Path) -> None:
    async with running(tmp_path) as process:
        await publish_all(process, [[made("one", "One two. Three.", topic="physics")]], [])
        await process.stub.Search(wire.SearchRequest(question="two"))
        url = f"http://127.0.0.1:{process.port + 200}/metrics"
        with await asyncio.to_thread(urllib.request.urlopen, url) as reply:
            metrics = reply.read().decode()
    assert 'radrag_index_points{level="child",topic="physics"} 2.0' in metrics
    assert 'radrag_index_points{level="parent",topic="physics"} 1.0' in metrics
    assert 'radrag_stage_duration_seconds_count{outcome="ok",stage="physics.bm25"} 1.0' in metrics


@pytest.mark.parametrize(
    ("name", "value"),
    [("RADRAG_STORE", "sqlite"), ("RADRAG_FUSION", "mean"), ("RADRAG_VECTOR_COMPRESSION", "zip")],
)
async def test_a_wrong_setting_is_named(tmp_path: Path, name: str, value: str) -> None:
    process = Process(tmp_path, **{name: value})
    await process.channel.close(None)
    assert await asyncio.to_thread(process.process.wait, 120) != 0
    assert f"{name} must be one of" in (tmp_path / "log").read_text()
    process.log.close()
