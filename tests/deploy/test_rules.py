"""Every alert fires on its fault and on nothing else, and leads to a page that helps."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from cli import arguments, evaluate
from cli.places import ROOT
from deploy.observability import rules
from tests.deploy.runbooks import PAGES, QUERIES
from tests.deploy.series import (
    CERTIFICATE,
    HEALTHY,
    MINUTES,
    PROBED,
    Series,
    constant,
    counting,
    fire,
    first_tokens,
    histogram,
    requests,
    search_times,
    stage,
)  # fmt: skip
from tests.prometheus import promtool

WRITTEN = yaml.safe_load(rules.RULES.read_text(encoding="utf-8"))
ALERTS = [rule for group in WRITTEN["groups"] for rule in group["rules"] if "alert" in rule]
NAMES = sorted({rule["alert"] for rule in ALERTS})
IDLE: Series = {
    name: constant(0)
    if name.startswith(("radrag_requests", "radrag_request_", "radrag_time", "radrag_stage"))
    else values
    for name, values in HEALTHY.items()
}
DAY = 24 * 60


def falling(before: float, after: float) -> Series:
    """Best scores that were all one value for a day, and another one for five hours now."""
    bounds = (0.2, 0.4, 0.6, 0.8, 1.0)
    series = {}
    for bound in (*bounds, "+Inf"):
        first = 60 if bound == "+Inf" or before <= float(bound) else 0
        then = 60 if bound == "+Inf" or after <= float(bound) else 0
        series[f'radrag_rerank_score_bucket{{le="{bound}"}}'] = (
            f"0+{first}x{DAY} {first * DAY + then}+{then}x{MINUTES}"
        )
    series["radrag_rerank_score_count"] = f"0+60x{DAY + MINUTES + 1}"
    return series


def lasting(series: Series, minutes: int) -> Series:
    return {name: values.replace(f"x{MINUTES}", f"x{minutes}") for name, values in series.items()}


# alert → what is different from a healthy service, and how many of the alert fire then.
FAULTS: Mapping[str, tuple[Series, Mapping[str, int]]] = {
    "RadragAvailabilityBurns": (requests("Search", "UNAVAILABLE", 15), {"RadragAvailabilityBurns": 4}),
    "RadragSearchLatencyBurns": (search_times(4.0), {"RadragSearchLatencyBurns": 4}),
    "RadragFirstTokenLatencyBurns": (first_tokens("caller", 7.0), {"RadragFirstTokenLatencyBurns": 4}),
    "RadragProcessDown": (
        {'up{job="triton",instance="triton:1"}': constant(0)},
        {"RadragProcessDown": 1},
    ),
    "RadragModelQueueGrowing": (
        {'nv_inference_pending_request_count{model="extractive",version="1"}': f"0+0.3x{MINUTES}"},
        {"RadragModelQueueGrowing": 1},
    ),
    "RadragModelQueueRejecting": (
        {'radrag_rejected_total{job="gateway",reason="model_queue"}': counting(10)},
        {"RadragModelQueueRejecting": 1, "RadragAvailabilityBurns": 4},
    ),
    "RadragTooManyCalls": (
        {'radrag_rejected_total{job="gateway",instance="gateway:1",reason="in_flight"}': counting(10)},
        {"RadragTooManyCalls": 1, "RadragAvailabilityBurns": 4},
    ),
    "RadragModelSlow": (stage("rerank", 3.0), {"RadragModelSlow": 1}),
    "RadragRerankRowsFailing": (
        {'radrag_warnings_total{kind="rerank_row_failed"}': counting(10)},
        {"RadragRerankRowsFailing": 1},
    ),
    "RadragEmbedderTruncates": (
        {'radrag_truncations_total{model="e5_small"}': counting(1)},
        {"RadragEmbedderTruncates": 1},
    ),
    "RadragDegraded": ({'radrag_degraded_total{what="embedder"}': counting(60)}, {"RadragDegraded": 1}),
    "RadragNoToken": (stage("generate", 1.0, per_minute=100), {"RadragNoToken": 1}),
    "RadragIndexDrift": ({"radrag_index_documents": constant(41)}, {"RadragIndexDrift": 1}),
    "RadragDocumentsExpire": (
        {'radrag_documents_expiring{days="30"}': constant(2)},
        {"RadragDocumentsExpire": 1},
    ),
    "RadragCertificateExpires": (
        {CERTIFICATE: constant(10 * 86_400)},
        {"RadragCertificateExpires": 1},
    ),
    "RadragEventLoopLags": (
        histogram(
            "radrag_event_loop_lag_seconds", 'job="gateway",instance="g:1"', 0.7, (0.01, 0.5, 1.0), 240
        ),
        {"RadragEventLoopLags": 1},
    ),
    "RadragUnverifiedCitations": (
        {'radrag_citations_total{verified="false"}': counting(10)},
        {"RadragUnverifiedCitations": 1},
    ),
    "RadragAuditFails": (
        {'radrag_audit_records_total{job="gateway",instance="gateway:1",result="failed"}': counting(1)},
        {"RadragAuditFails": 1},
    ),
}


def test_the_rules_are_current_and_prometheus_takes_them() -> None:
    assert rules.RULES.read_text(encoding="utf-8") == rules.written(), "run `make rules`"
    assert "SUCCESS" in promtool("check", "rules", str(rules.RULES))


def test_a_healthy_service_wakes_nobody(tmp_path: Path) -> None:
    fire(tmp_path, HEALTHY, {})


@pytest.mark.parametrize("alert", FAULTS)
def test_an_alert_fires_on_its_fault_and_no_other_does(tmp_path: Path, alert: str) -> None:
    changes, expected = FAULTS[alert]
    fire(tmp_path, {**HEALTHY, **changes}, expected)


def test_a_certificate_that_ends_before_the_gateway_is_noticed_where_it_is_probed(tmp_path: Path) -> None:
    fire(tmp_path, {**HEALTHY, PROBED: constant(10 * 86_400)}, {"RadragCertificateExpires": 1})


def test_a_service_without_tls_has_no_certificate_that_ends(tmp_path: Path) -> None:
    fire(tmp_path, {name: one for name, one in HEALTHY.items() if name not in {CERTIFICATE, PROBED}}, {})


def test_fallen_rerank_scores_are_noticed_against_the_day_before(tmp_path: Path) -> None:
    series = {**lasting(HEALTHY, DAY + MINUTES), **falling(0.8, 0.2)}
    fire(tmp_path, series, {"RadragRerankScoreCollapse": 1}, DAY + 60, every=10)


def test_hours_without_a_question_are_noticed(tmp_path: Path) -> None:
    fire(tmp_path, lasting(IDLE, 280), {"RadragNoTraffic": 1}, 270, every=10)


def test_a_handful_of_failed_calls_at_night_wakes_nobody(tmp_path: Path) -> None:
    """One failure of two calls burns the budget a hundred times too fast, and says nothing."""
    night = {**IDLE, **requests("Search", "OK", 0.03), **requests("Search", "INTERNAL", 0.01)}
    fire(tmp_path, night, {})


def test_a_caller_that_is_over_its_own_rate_wakes_nobody(tmp_path: Path) -> None:
    """Its refusals have the code of refusals for want of room."""
    refused = {
        **requests("Search", "RESOURCE_EXHAUSTED", 600),
        'radrag_rejected_total{job="gateway",instance="gateway:1",reason="rate"}': counting(600),
    }
    fire(tmp_path, {**HEALTHY, **refused}, {})


def test_a_short_fault_that_is_over_pages_nobody_and_leaves_a_ticket(tmp_path: Path) -> None:
    """The short windows let go minutes after the end; the slow one remembers what was spent."""
    name = next(iter(requests("Search", "INTERNAL", 0)))
    over = {name: f"0+15x10 150+0x{MINUTES - 11}"}
    fire(tmp_path, {**HEALTHY, **over}, {"RadragAvailabilityBurns": 1})


def test_every_alert_has_a_test_that_it_fires() -> None:
    assert set(NAMES) == {*FAULTS, "RadragRerankScoreCollapse", "RadragNoTraffic"}


@pytest.mark.parametrize("alert", NAMES)
def test_every_alert_leads_to_a_page_with_its_query_causes_and_commands(alert: str) -> None:
    (path,) = {rule["annotations"]["runbook"] for rule in ALERTS if rule["alert"] == alert}
    text = (ROOT / path).read_text(encoding="utf-8")
    assert alert in text, f"{path} does not name {alert}"
    for heading in ("## Query", "## Likely causes", "## First three commands"):
        assert heading in text, f"{path} lacks {heading}"
    commands = text.split("## First three commands")[1]
    assert len(re.findall(r"^    \$ ", commands, re.MULTILINE)) == 3


def parsed(words: list[str]) -> None:
    """Exits with status 2 when the program would not take them; `eval` has a grammar of its own."""
    if words[0] == "eval":
        evaluate.parsed(words[1:])
    else:
        arguments.parsed(words)


def test_the_query_of_every_page_is_one_that_prometheus_takes(tmp_path: Path) -> None:
    recorded = [{"record": "asked", "expr": query, "labels": {"of": page}} for page, query in QUERIES.items()]
    file = tmp_path / "asked.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "runbooks", "rules": recorded}]}))
    assert f"SUCCESS: {len(PAGES)} rules found" in promtool("check", "rules", str(file))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_commands_of_a_page_exist(path: Path) -> None:
    for words in re.findall(
        r"^    \$ (?:.*&& )?radrag ([^|&\n]*)", path.read_text(encoding="utf-8"), re.MULTILINE
    ):
        given = shlex.split(words)
        if given[-1] == "--help":
            with pytest.raises(SystemExit) as asked:
                parsed(given)
            assert asked.value.code == 0, words
        else:
            parsed(given)
    for link in re.findall(r"\]\(([\w-]+\.md)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link
