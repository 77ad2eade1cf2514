"""The console in a real browser against the real stack: answers, sources, refusals, review, rating, keys."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evaluation.experts import ratings
from tests.integration.browser import PATIENCE, browsing, needs_chromium, page_at, violations
from tests.integration.conftest import Stack

pytestmark = needs_chromium
expect.set_options(timeout=PATIENCE)

SAR = "До скольких Вт/кг ограничен SAR всего тела, если томограф остаётся в обычном режиме?"
PLAN = {
    "seed": 1,
    "groups": [[{"name": "r1", "department": "ct"}, {"name": "r2", "department": "mr"}]],
    "questions": [
        {"id": "q1", "department": "ct", "author": "somebody", "question": "What is asked?",
         "answer": "What is answered [1].", "sources": ["The first source.", "The second source."]},
    ],
    "group_of": {"q1": 0},
}  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as one:
        yield one


def asked(page: Page, question: str) -> None:
    """Asks with the keyboard alone and waits for the end."""
    page.locator("#question").fill("")
    page.keyboard.type(question)
    expect(page.locator("#question")).to_have_value(question)
    page.keyboard.press("Control+Enter")
    page.locator("#result[aria-busy=false] .banner").wait_for()


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
        expect(source.locator("mark").filter(has_text="2 Вт/кг")).to_be_visible()
        expect(source.locator("summary")).to_be_focused()
        page.locator(".stages summary").click()
        expect(page.locator(".stages tr")).to_have_count(7)
        assert violations(page) == []
        page.locator("#language").click()
        expect(page.locator("#outcome")).to_have_text("Ответ дан по источникам")
        page.locator("#theme").click()
        assert violations(page) == []


def test_a_question_of_another_field_is_refused_in_plain_words(stack: Stack, browser: Browser) -> None:
    with page_at(browser, f"{stack.http}/console/") as page:
        asked(page, "Which stocks should I buy this week?")
        expect(page.locator("#outcome")).to_have_text("Outside what this service answers")
        expect(page.locator(".passage")).to_have_count(0)
        assert violations(page) == []


def test_at_360_pixels_nothing_is_cut_off(light: Stack, browser: Browser) -> None:
    with page_at(browser, f"{light.http}/console/", width=360) as page:
        asked(page, "What does the knowledge base hold about contrast media?")
        page.locator(".rating summary").click()
        for view in ("ask", "review", "rate"):
            page.locator(f'nav a[href="#{view}"]').click()
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, view


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
        asked(page, "What does the knowledge base hold about contrast media?")
        page.locator(".rating summary").click()
        page.locator('.feedback input[name="accuracy"][value="4"]').check()
        page.locator(".feedback button").click()
        expect(page.locator(".rating")).to_contain_text("the rating is stored")
    told = light.radrag("kb", "feedback", "--csv")
    assert told.returncode == 0
    assert ",4," in told.stdout


def test_a_document_is_reviewed_approved_and_published(
    light: Stack, browser: Browser, tmp_path: Path
) -> None:
    first, second = "# Reviewed here\n\nOld words.\n", "# Reviewed here\n\nNew words.\n"
    document = tmp_path / "reviewed-here.md"
    for text, approve in ((first, ["--approve"]), (second, [])):
        document.write_text(text)
        done = light.radrag("ingest", str(document), "--topic", "safety", *approve)
        assert done.returncode == 0, done.stdout + done.stderr
    with page_at(browser, f"{light.http}/console/#review") as page:
        page.locator(".entry", has_text="Reviewed here").click()
        expect(page.locator("pre.removed")).to_contain_text("Old words.")
        expect(page.locator("pre.added")).to_contain_text("New words.")
        assert violations(page) == []
        page.get_by_role("button", name="Reject").click()
        expect(page.locator("#version [role=status]")).to_have_text("A rejection needs a reason.")
        page.get_by_role("button", name="Approve").click()
        expect(page.locator("#version")).to_contain_text("Now: approved")
        page.locator(".entry", has_text="Reviewed here").click()
        page.get_by_role("button", name="Publish").click()
        expect(page.locator("#version")).to_contain_text("Now: published")


def test_a_study_is_rated_and_its_export_is_read_by_the_evaluation(
    light: Stack, browser: Browser, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(PLAN))
    with page_at(browser, f"{light.http}/console/#rate") as page:
        page.locator("#plan").set_input_files(plan)
        page.locator("#rater-name").select_option("r1")
        assert "somebody" not in page.locator("#study").inner_text()
        fields = page.locator("#questions .scale")
        for number in range(fields.count()):
            fields.nth(number).locator("input").nth(number % 5).check()
        expect(page.locator(".progress")).to_have_text("5 / 5 rated")
        assert violations(page) == []
        with page.expect_download() as download:
            page.get_by_role("button", name="Export ratings").click()
        download.value.save_as(tmp_path / "ratings.jsonl")
    found = ratings.read(tmp_path / "ratings.jsonl")
    assert [(one.criterion, one.rank, one.value) for one in found] == [
        ("correctness", 0, 1), ("completeness", 0, 2), ("clarity", 0, 3),
        ("usefulness", 1, 4), ("usefulness", 2, 5),
    ]  # fmt: skip


def test_a_missing_model_server_is_said_plainly(light: Stack, browser: Browser) -> None:
    """The stream fails before its first frame: a problem, in words."""
    with page_at(browser, f"{light.http}/console/") as page:
        page.route("**/v1/generate", lambda route: route.fulfill(
            status=503, content_type="application/problem+json",
            body=json.dumps({"title": "Service Unavailable", "detail": "the generator does not answer",
                             "status": 503, "reason": "GENERATOR_UNAVAILABLE"}),
        ))  # fmt: skip
        asked(page, "What does the knowledge base hold?")
        expect(page.locator(".problem")).to_contain_text("the generator does not answer")
