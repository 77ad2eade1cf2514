"""`radrag top` reckons from two pages what a dashboard would show."""

import socket
from pathlib import Path

import pytest

from cli import arguments
from cli.__main__ import run
from cli.exits import Exit
from cli.top import pages
from cli.top_figures import INFINITE, figures, look, quantile
from radrag import telemetry
from radrag.settings import Settings
from radrag.telemetry.reading import samples
from tests.cli.screens import out, pipe

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


def test_rates_shares_and_queues_are_those_between_two_looks() -> None:
    found = figures(look(samples(page(100, 10))), look(samples(page(140, 20))), 10.0)
    (call,) = found.calls
    assert (call["method"], call["rate"], call["running"], call["not_ok"]) == ("A/Search", 5.0, 2, 0.2)
    shares = {stage["stage"]: (stage["rate"], stage["share"]) for stage in found.stages}
    assert shares == {"rerank": (4.0, 0.75), "embed": (4.0, 0.25)}
    (model,) = found.models
    assert (model["waiting"], model["batch"]) == (4, 4.0)
    assert [(one["what"], one["count"]) for one in found.trouble] == [("refused model_queue", 10)]


@pytest.mark.parametrize(("share", "expected"), [(0.2, 0.5), (0.6, 1.5), (0.9, 3.0)])
def test_a_quantile_is_reckoned_as_prometheus_does(share: float, expected: float) -> None:
    """Evenly inside a bucket; in the last one, that bucket's lower end."""
    assert quantile(share, {1.0: 4.0, 2.0: 8.0, 3.0: 8.0, INFINITE: 10.0}) == pytest.approx(expected)


def test_a_restarted_process_counts_from_zero() -> None:
    assert figures(look(samples(page(100, 10))), look(samples(page(5, 0))), 10.0).calls[0]["rate"] == 0.0


def test_one_model_server_for_all_roles_is_read_once() -> None:
    assert pages(Settings()) == ["127.0.0.1:50251", "127.0.0.1:50252", "127.0.0.1:50253", "127.0.0.1:8002"]


async def test_it_reads_a_page_that_is_served(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    telemetry.REQUESTS.labels("a.v1.Top/Test", "OK").inc()
    stop = telemetry.serve_metrics("127.0.0.1", port)
    try:
        screen = pipe()
        environ = {"RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{port - 200}"}
        assert await run(arguments.parsed(["top", "--once"]), screen, environ) == Exit.OK
    finally:
        stop()
    assert "Top/Test" in out(screen)
