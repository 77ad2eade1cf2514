"""The console in a real browser against the real stack: answers, sources, refusals, filters, ratings."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import asked, browsing, fits, needs_chromium, page_at, pictured, violations
from tests.integration.conftest import Stack, free_port, made

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
        page.locator("#theme").click()
        assert violations(page) == []
        pictured(page, "answer-ru-dark")


def test_a_question_of_another_field_is_refused_in_plain_words(stack: Stack, browser: Browser) -> None:
    with page_at(browser, f"{stack.http}/console/") as page:
        asked(page, "Which stocks should I buy this week?")
        expect(page.locator("#outcome")).to_have_text("Outside what this service answers")
        expect(page.locator(".passage")).to_have_count(0)
        assert violations(page) == []


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


def test_a_rating_of_an_answer_is_stored(light: Stack, browser: Browser) -> None:
    with page_at(browser, f"{light.http}/console/") as page:
        asked(page, HELD)
        page.locator(".rating summary").click()
        page.locator('.feedback input[name="accuracy"][value="4"]').check()
        page.locator(".feedback button").click()
        expect(page.locator(".rating")).to_contain_text("the rating is stored")
    told = light.radrag("kb", "feedback", "--csv")
    assert told.returncode == 0
    assert ",4," in told.stdout


def test_what_is_missing_is_said_with_the_answer(light: Stack, browser: Browser) -> None:
    """A gateway whose reranker is not there answers all the same, and says so."""
    settings = {
        **light.environ,
        "RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{free_port()}",
        "RADRAG_HTTP_ADDRESS": f"127.0.0.1:{free_port()}",
        "RADRAG_RERANKER_URL": f"127.0.0.1:{free_port()}",
        "RADRAG_HOME": f"{light.environ['RADRAG_HOME']}-dim",
    }
    dim = made(settings)
    with ThreadPoolExecutor(1) as thread:  # the browser's own loop runs in this one
        thread.submit(dim.start, "gateway").result()
        try:
            with page_at(browser, f"{dim.http}/console/") as page:
                asked(page, HELD)
                expect(page.locator(".warnings")).to_contain_text(
                    "A part of the service was missing: reranker"
                )
                assert violations(page) == []
                pictured(page, "degraded")
        finally:
            thread.submit(dim.stop, "gateway").result()
