"""The console in a real browser against the real stack: answers, sources, refusals, filters, ratings."""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from cli.process import Child
from cli.triton_server import TritonServer
from tests.browser import asked, browsing, fits, needs_chromium, page_at, pictured, violations
from tests.conftest import ran
from tests.gateway.web.test_console import reached
from tests.integration.conftest import MODELS, Stack, made
from tests.ports import free_grpc_port, free_port

pytestmark = needs_chromium

SAR = "До скольких Вт/кг ограничен SAR всего тела, если томограф остаётся в обычном режиме?"
HELD = "What does the knowledge base hold about contrast media?"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as one:
        yield one


def test_a_russian_answer_streams_in_and_its_citation_opens_the_marked_passage(
    stack: Stack, browser: Browser
) -> None:
    with page_at(browser, f"{stack.http}/console/") as page:
        asked(page, SAR)
        expect(page.locator("#outcome")).to_have_text("Answered from the sources")
        expect(page.locator("#answer")).to_contain_text("2 Вт/кг")
        marker = page.locator(".marker").first
        marker.focus()
        page.keyboard.press("Enter")
        source = page.locator(f"#source-{marker.inner_text().strip('[]')}")
        expect(source.locator("td mark").filter(has_text="2 Вт/кг")).to_be_visible()
        expect(source.locator("summary")).to_be_focused()
        assert urlsplit(source.locator("a").get_attribute("href") or "").scheme == "https"
        page.locator(".stages summary").click()
        expect(page.locator(".stages tr")).to_have_count(7)
        assert violations(page) == []
        page.locator("#language").click()
        expect(page.locator("#outcome")).to_have_text("Ответ дан по источникам")
        assert source.locator(".text").evaluate("one => one.scrollTop") > 0  # still at the quote
        page.locator("#theme").click()
        assert violations(page) == []
        pictured(page, "answer-ru-dark")


def test_a_question_of_another_field_is_refused_in_plain_words(stack: Stack, browser: Browser) -> None:
    with page_at(browser, f"{stack.http}/console/") as page:
        asked(page, "Which stocks should I buy this week?")
        expect(page.locator("#outcome")).to_have_text("Outside what this service answers")
        expect(page.locator(".passage")).to_have_count(0)
        assert violations(page) == []


def test_too_little_evidence_is_said_in_plain_words_and_answers_nothing(
    stack: Stack, browser: Browser
) -> None:
    with page_at(browser, f"{stack.http}/console/") as page:
        asked(page, "Как часто в отделении меняют постельное бельё?")
        expect(page.locator("#outcome")).to_have_text("Not enough evidence in the knowledge base")
        expect(page.locator("#outcome")).to_have_class("banner warn")
        expect(page.locator(".sources h2")).to_have_text("Nearest passages, too little for an answer")
        expect(page.locator("#answer")).to_contain_text("недостаточно")
        expect(page.locator(".marker, mark")).to_have_count(0)
        assert violations(page) == []
        pictured(page, "insufficient")


def test_at_360_pixels_nothing_is_cut_off(light: Stack, browser: Browser) -> None:
    with page_at(browser, f"{light.http}/console/", width=360) as page:
        asked(page, HELD)
        page.locator(".rating summary").click()
        for view in ("ask", "review", "rate"):
            page.locator(f'nav a[href="#{view}"]').click()
            assert fits(page), view


def test_the_page_is_reached_from_top_to_end_by_the_tab_key(light: Stack, browser: Browser) -> None:
    with page_at(browser, f"{light.http}/console/") as page:
        page.locator("#topics label").first.wait_for(state="attached")
        reached = []
        for _ in range(12):
            page.keyboard.press("Tab")
            reached.append(
                page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")
            )
        assert reached[0] == "Skip to content"
        for wanted in ("Ask", "Review", "Rate", "language", "theme", "sign", "question", "Filters"):
            assert wanted in reached


def test_filters_go_along_with_the_question(light: Stack, browser: Browser) -> None:
    with page_at(browser, f"{light.http}/console/") as page:
        page.locator(".filters summary").click()
        page.locator('#topics input[value="physics"]').check()
        page.locator("#as-of").fill("2026-11-30")
        with page.expect_request("**/v1/generate") as sent:
            asked(page, "What does the knowledge base hold?")
        said = json.loads(sent.value.post_data or "")["filter"]
        assert said == {"topics": ["physics"], "as_of": "2026-11-30"}


def test_a_rating_by_all_six_criteria_is_given_without_a_mouse_and_stored(
    light: Stack, browser: Browser
) -> None:
    given = {
        "relevance": 5,
        "accuracy": 4,
        "safety": 3,
        "comprehensiveness": 2,
        "conciseness": 1,
        "language": 5,
    }
    with page_at(browser, f"{light.http}/console/") as page:
        asked(page, HELD)
        reached(page, "#rating summary")
        page.keyboard.press("Enter")
        expect(page.locator(".feedback .hint")).to_have_text("1 worst, 5 best")
        for criterion, value in given.items():
            reached(page, f'.feedback input[name="{criterion}"]')
            page.keyboard.press("Space")  # the first of the scale, 1
            for _ in range(value - 1):
                page.keyboard.press("ArrowRight")
        reached(page, ".feedback textarea")
        page.keyboard.type("Rated with the keyboard.")
        reached(page, ".feedback button")
        page.keyboard.press("Enter")
        expect(page.locator(".rating")).to_contain_text("the rating is stored")
    told = light.radrag("kb", "feedback", "--csv")
    assert told.returncode == 0, told.stderr
    (row,) = [one for one in csv.DictReader(StringIO(told.stdout)) if one["comment"].startswith("Rated with")]
    assert {name: int(row[name]) for name in given} == given


def test_what_is_missing_is_said_with_the_answer(light: Stack, browser: Browser) -> None:
    """A gateway whose reranker is not there answers all the same, and says so."""
    nobody = {"RADRAG_RERANKER_URL": f"127.0.0.1:{free_port()}", "RADRAG_MODEL_PATIENCE_SECONDS": "0"}
    with beside(light, **nobody) as url, page_at(browser, url) as page:
        asked(page, HELD)
        expect(page.locator(".warnings")).to_contain_text("A part of the service was missing: reranker")
        assert violations(page) == []
        pictured(page, "degraded")


def test_the_text_of_a_generator_that_streams_grows_on_the_page(
    light: Stack, browser: Browser, tmp_path: Path
) -> None:
    """Its words come from a Triton of its own, 20 ms apart; each checked sentence is shown as it comes."""
    words = TritonServer(Child("words", tmp_path), ("null_words",), free_grpc_port(), repository=MODELS)
    models = {"RADRAG_GENERATOR_URL": words.grpc, "RADRAG_GENERATOR_MODEL": "null_words"}
    with standing(words), beside(light, **models) as url, page_at(browser, url) as page:
        page.evaluate(WATCH)
        asked(page, HELD)
        expect(page.locator("#outcome")).to_have_text("Answered from the sources")
        seen = [str(one) for one in page.evaluate("window.seen")]
    assert len(seen) >= 5
    assert all(later.startswith(earlier) for earlier, later in pairwise(seen))


# What the answer says, each time it says something else while the page is busy.
WATCH = """
  window.seen = [];
  new MutationObserver(() => {
    const text = document.querySelector("#result[aria-busy=true] #answer")?.textContent;
    if (text && text !== window.seen.at(-1)) window.seen.push(text);
  }).observe(document.querySelector("#result"), { childList: true, subtree: true, characterData: true });
"""


@contextmanager
def beside(light: Stack, **settings: str) -> Iterator[str]:
    """The console of one more gateway on the same knowledge base, with these settings."""
    addresses = {f"RADRAG_{one}_ADDRESS": f"127.0.0.1:{free_port()}" for one in ("GATEWAY", "HTTP")}
    home = f"{light.environ['RADRAG_HOME']}-{addresses['RADRAG_GATEWAY_ADDRESS'][-5:]}"
    one = made({**light.environ, **addresses, "RADRAG_HOME": home, **settings})
    try:
        one.start("gateway")
        yield f"{one.http}/console/"
    finally:
        one.stop("gateway")


@contextmanager
def standing(server: TritonServer) -> Iterator[None]:
    ran(server.start())
    try:
        yield
    finally:
        ran(server.stop())
