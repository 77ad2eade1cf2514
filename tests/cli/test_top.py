"""`radrag top` reckons from two pages what a dashboard would show."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from cli import arguments
from cli.__main__ import run
from cli.exits import Exit
from cli.services import METRICS_ABOVE
from cli.top import CLEAR, pages
from cli.top_figures import INFINITE, Look, figures, look, quantile
from radrag import telemetry
from radrag.settings import Settings
from radrag.telemetry.reading import samples
from tests.cli.screens import out, pipe, screen
from tests.ports import free_port

PAGE = """
radrag_requests_total{{method="a.v1.A/Search",code="OK"}} {ok}
radrag_requests_total{{method="a.v1.A/Search",code="INTERNAL"}} {bad}
radrag_requests_in_flight{{method="a.v1.A/Search"}} 2
radrag_stage_duration_seconds_bucket{{stage="embed",outcome="ok",le="0.1"}} {ok}
radrag_stage_duration_seconds_bucket{{stage="embed",outcome="ok",le="+Inf"}} {ok}
radrag_stage_duration_seconds_count{{stage="embed",outcome="ok"}} {ok}
radrag_stage_duration_seconds_sum{{stage="embed",outcome="ok"}} {ok}
radrag_stage_duration_seconds_count{{stage="rerank",outcome="ok"}} {ok}
radrag_stage_duration_seconds_sum{{stage="rerank",outcome="ok"}} {thrice}
radrag_rejected_total{{reason="model_queue"}} {bad}
nv_inference_pending_request_count{{model="e5_small"}} 4
nv_inference_count{{model="e5_small"}} {ok}
nv_inference_exec_count{{model="e5_small"}} {bad}
"""


def page(ok: int, bad: int) -> str:
    return PAGE.format(ok=ok, bad=bad, thrice=3 * ok)


def seen(*texts: str) -> dict[str, Look]:
    """What the pages of some processes show."""
    return {f"127.0.0.1:{number}": look(samples(text)) for number, text in enumerate(texts)}


def test_rates_shares_and_queues_are_those_between_two_looks() -> None:
    found = figures(seen(page(100, 10)), seen(page(140, 20)), 10.0)
    (call,) = found.calls
    assert (call["method"], call["rate"], call["running"], call["not_ok"]) == ("A/Search", 5.0, 2, 0.2)
    shares = {stage["stage"]: (stage["rate"], stage["share"]) for stage in found.stages}
    assert shares == {"rerank": (4.0, 0.75), "embed": (4.0, 0.25)}
    (model,) = found.models
    assert (model["waiting"], model["batch"]) == (4, 4.0)
    assert [(one["what"], one["count"]) for one in found.trouble] == [("refused model_queue", 10)]


def test_callers_who_leave_make_no_stage_fail() -> None:
    counted = 'radrag_stage_duration_seconds_count{{stage="generate",outcome="{outcome}"}} {count}\n'

    def ended(**counts: int) -> str:
        return "".join(counted.format(outcome=outcome, count=count) for outcome, count in counts.items()) + (
            f'radrag_stage_duration_seconds_sum{{stage="generate",outcome="ok"}} {sum(counts.values())}\n'
        )

    before, after = (
        ended(ok=0, CancelledError=0, ModelUnavailable=0),
        ended(ok=5, CancelledError=4, ModelUnavailable=1),
    )
    (stage,) = figures(seen(before), seen(after), 10.0).stages
    assert (stage["rate"], stage["failed"]) == (1.0, 0.1)


@pytest.mark.parametrize(("share", "expected"), [(0.2, 0.5), (0.6, 1.5), (0.9, 3.0)])
def test_a_quantile_is_reckoned_as_prometheus_does(share: float, expected: float) -> None:
    """Evenly inside a bucket; in the last one, that bucket's lower end."""
    assert quantile(share, {1.0: 4.0, 2.0: 8.0, 3.0: 8.0, INFINITE: 10.0}) == pytest.approx(expected)


def test_a_restarted_process_counts_from_zero() -> None:
    assert figures(seen(page(100, 10)), seen(page(5, 0)), 10.0).calls[0]["rate"] == 0.0


def test_a_page_that_missed_a_look_counts_from_its_next_two() -> None:
    """Not from its process's start: that would be a flood that there never was."""
    one, both = seen(page(100, 10)), seen(page(140, 20), page(9000, 900))
    later = seen(page(150, 20), page(9020, 900))
    (call,) = figures(one, both, 10.0).calls
    assert (call["rate"], call["running"]) == (5.0, 4)
    assert figures(both, later, 10.0).calls[0]["rate"] == 3.0


def test_one_model_server_for_all_roles_is_read_once() -> None:
    assert pages(Settings()) == ["127.0.0.1:50251", "127.0.0.1:50252", "127.0.0.1:50253", "127.0.0.1:8002"]


async def test_it_reads_a_page_that_is_served(tmp_path: Path) -> None:
    port = free_port() + METRICS_ABOVE
    telemetry.REQUESTS.labels("a.v1.Top/Test", "OK").inc()
    stop = telemetry.serve_metrics("127.0.0.1", port)
    try:
        shown = pipe()
        environ = {"RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{port - METRICS_ABOVE}"}
        assert await run(arguments.parsed(["top", "--once"]), shown, environ) == Exit.OK
    finally:
        stop()
    assert "Top/Test" in out(shown)


@contextmanager
def scripted(*texts: str) -> Iterator[dict[str, str]]:
    """Every process and model server at one page, which shows each text once and then nothing more."""
    left = list(texts)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if left else 503)
            self.end_headers()
            self.wfile.write(left.pop(0).encode() if left else b"")

        def log_message(self, *args: object) -> None:
            """Says nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        processes = dict.fromkeys(("GATEWAY_ADDRESS", "RETRIEVAL_ADDRESS", "INGEST_ADDRESS"), -METRICS_ABOVE)
        models = dict.fromkeys(("EMBEDDER_URL", "RERANKER_URL", "GENERATOR_URL"), -1)
        try:
            yield {
                f"RADRAG_{name}": f"127.0.0.1:{server.server_port + more}"
                for name, more in (processes | models).items()
            }
        finally:
            server.shutdown()
            thread.join()


async def test_the_live_view_shows_round_by_round_what_was_since_the_look_before() -> None:
    began, shown = time.monotonic(), pipe()
    with scripted(page(100, 10), page(140, 20), page(150, 20)) as environ:
        words = arguments.parsed(["top", "--every", "0.05", "--json"])
        assert await run(words, shown, environ) == Exit.UNAVAILABLE  # the page showed nothing more
    took = time.monotonic() - began
    one, other = map(json.loads, out(shown).splitlines())
    assert [found["calls"][0]["not_ok"] for found in (one, other)] == [0.2, 0.0]
    assert [[trouble["count"] for trouble in found["trouble"]] for found in (one, other)] == [[10], []]
    for found, ended in ((one, 50), (other, 10)):
        assert ended / took <= found["calls"][0]["rate"] <= ended / 0.05


async def test_on_a_terminal_a_round_takes_the_place_of_the_one_before() -> None:
    watched = screen()
    with scripted(page(100, 10), page(140, 20), page(150, 20)) as environ:
        await run(arguments.parsed(["top", "--every", "0.05"]), watched, environ)
    before, one, other = out(watched).split(CLEAR)
    assert before == ""
    assert "20%" in one
    assert "20%" not in other
    assert one.startswith("the last ")
