"""The console in a browser, before a service whose parts do as each test says: streams, faults, bad text."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from gateway.passage import Found, Passage, QueryVector
from gateway.pipeline import Pipeline
from gateway.questions import Question
from radrag.access.callers import digest, made
from radrag.admission.limits import Limits
from radrag.admission.rates import Rates
from radrag.errors import ModelUnavailable
from radrag.triton import Piece
from tests.browser import asked, browsing, fits, needs_chromium, page_at, pictured, typed, violations
from tests.gateway.channel import QUESTION, without
from tests.gateway.fakes import down, no_generator, passage, saying
from tests.gateway.web.consoles import console

pytestmark = needs_chromium

EVIL = "<img src=x onerror=alert(1)>"
FIRST, SECOND = (
    "- “The annual dose limit for workers is 20 mSv.” [1]\n",
    "- “It is averaged over five years.” [1]\n",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as one:
        yield one


class Held:
    """A generator that says its first sentence, and the second when let go. `left` is set as it is closed."""

    def __init__(self) -> None:
        self.go, self.left = asyncio.Event(), asyncio.Event()

    async def generate(self, prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        try:
            yield Piece(FIRST, "", 100, 1)
            yield Piece("- ", "", 0, 1)  # the first sentence ends where the next begins
            await self.go.wait()
            yield Piece(SECOND.removeprefix("- "), "stop", 0, 1)
        finally:
            self.left.set()


def finding(*passages: Passage, **stages: object) -> Pipeline:
    async def search(question: Question, vector: QueryVector | None) -> Found:
        return Found(passages, (), "g1", 7)

    return without(search=search, **stages)


MOMENT = """at => document.getAnimations().forEach(one => { one.pause(); one.currentTime = at; })"""


def waiting(page: Page, text: str) -> None:
    """Asks, and waits until this stands in the answer."""
    typed(page, QUESTION)
    expect(page.locator("#answer")).to_contain_text(text)


def test_sentences_come_one_by_one_and_what_was_opened_stays_open(browser: Browser) -> None:
    held = Held()
    with console(without(generate=held.generate)) as line, page_at(browser, line.url) as page:
        waiting(page, "20 mSv")
        expect(page.locator(".banner")).to_have_text("Answering…")
        expect(page.locator("#answer")).not_to_contain_text("five years")
        page.locator("#source-1 summary").click()
        for moment in (0, 800, 1600):  # ms of what moves: its contrast never falls, wherever axe looks
            page.evaluate(MOMENT, moment)
            assert violations(page) == []
        line.loop.call_soon_threadsafe(held.go.set)
        expect(page.locator("#outcome")).to_have_text("Answered from the sources")
        expect(page.locator("#answer")).to_contain_text("five years")
        expect(page.locator("#source-1")).to_have_attribute("open", "")
        expect(page.locator("#source-1 summary")).to_be_focused()
        expect(page.locator("#source-1 mark").first).to_be_visible()
        assert not page.locator("#source-2").get_attribute("open")


def test_escape_stops_the_answer_and_the_generator(browser: Browser) -> None:
    held = Held()
    with console(without(generate=held.generate)) as line, page_at(browser, line.url) as page:
        waiting(page, "20 mSv")
        page.keyboard.press("Escape")
        expect(page.locator(".banner")).to_have_text("Stopped")
        expect(page.locator("#stop")).to_be_hidden()
        line.run(asyncio.wait_for(held.left.wait(), 10))


def test_a_line_that_breaks_in_mid_answer_is_said_and_the_rest_stays(browser: Browser) -> None:
    held = Held()
    with console(without(generate=held.generate)) as line, page_at(browser, line.url) as page:
        waiting(page, "20 mSv")
        line.cut()
        expect(page.locator(".banner")).to_have_text("The answer failed")
        expect(page.locator("#result .problem")).to_contain_text("The connection broke before the end.")
        expect(page.locator("#answer")).to_contain_text("20 mSv")
        expect(page.locator("#status")).to_contain_text("The connection broke")
        assert violations(page) == []
        pictured(page, "line-lost")
        asked(page, QUESTION)
        expect(page.locator("#result .problem")).to_contain_text("The service cannot be reached.")
        expect(page.locator("#answer")).to_have_count(0)


def test_a_stream_that_ends_without_its_last_frame_is_no_answer(browser: Browser) -> None:
    cut = f"event: text\ndata: {json.dumps({'text': FIRST})}\n\n"
    with console() as line, page_at(browser, line.url) as page:
        page.route("**/v1/generate", lambda route: route.fulfill(content_type="text/event-stream", body=cut))
        asked(page, QUESTION)
        expect(page.locator(".banner")).to_have_text("The answer failed")
        expect(page.locator("#answer")).to_contain_text("20 mSv")


def test_a_call_that_breaks_off_says_the_services_own_words(browser: Browser) -> None:
    """Its last event is `error`: the verification hangs, and the time of the call is up."""

    async def stuck(answer: object, pieces: object) -> AsyncGenerator[str, None]:
        yield FIRST
        await asyncio.sleep(30)

    with console(without(verify=stuck)) as line, page_at(browser, line.url) as page:
        page.route("**/v1/generate", lambda one: one.continue_(headers=one.request.headers | SOON))
        asked(page, QUESTION)
        expect(page.locator(".banner")).to_have_text("The answer failed")
        expect(page.locator("#result .problem")).to_contain_text("Deadline Exceeded")
        expect(page.locator("#answer")).to_contain_text("20 mSv")


SOON = {"grpc-timeout": "1S"}


def test_a_generator_that_dies_leaves_what_was_checked_and_says_so(browser: Browser) -> None:
    async def dying(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        yield Piece(FIRST + "- ", "", 100, 1)
        raise ModelUnavailable("generator")

    with console(without(generate=dying)) as line, page_at(browser, line.url) as page:
        asked(page, QUESTION)
        expect(page.locator(".banner")).to_have_text("The answer failed")
        expect(page.locator("#result .problem")).to_contain_text("generator")
        expect(page.locator("#answer")).to_contain_text("20 mSv")
        expect(page.locator(".rating")).to_have_count(0)


def test_without_a_generator_the_failure_is_in_words_with_the_calls_id(browser: Browser) -> None:
    with console(without(generate=no_generator)) as line, page_at(browser, line.url) as page:
        asked(page, QUESTION)
        expect(page.locator("#result .problem")).to_contain_text("generator")
        assert len(page.locator("#result .problem .hint").inner_text().strip(" ()")) == 32


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_was_missing_is_said_beside_the_answer(browser: Browser, scheme: str) -> None:
    pipeline = without(rerank=down("reranker"))
    with console(pipeline) as line, page_at(browser, line.url, color_scheme=scheme) as page:
        asked(page, QUESTION)
        expect(page.locator(".warnings")).to_contain_text("A part of the service was missing")
        assert violations(page) == []
        pictured(page, f"degraded-{scheme}")


def test_nothing_of_a_document_becomes_markup_or_a_link_to_a_script(browser: Browser) -> None:
    text = (
        'The annual dose limit for workers is 20 mSv. <script>alert(2)</script> <b onclick="alert(3)">x</b>'
    )
    evil = passage("evil", text, context="<iframe src=javascript:alert(4)></iframe>")
    evil = replace(
        evil, heading_path=("<svg onload=alert(5)>",),
        document=replace(evil.document, title=EVIL, source_uri="javascript:alert(6)"),
    )  # fmt: skip
    with console(finding(evil)) as line, page_at(browser, line.url) as page:
        asked(page, QUESTION)
        page.locator(".marker").first.click()
        result = page.locator("#result")
        expect(result.locator("summary").filter(has_text=EVIL)).to_be_visible()
        expect(result.locator(".text")).to_contain_text("<script>alert(2)</script>")
        assert result.locator("img, script, iframe, svg, b, a").count() == 0
        assert violations(page) == []


def test_a_very_long_answer_and_a_word_without_end_stay_within_the_page(browser: Browser) -> None:
    long = "x" * 5_000
    quotes = [f"Rule {number} holds for workers in room {number}." for number in range(150)]
    room = passage("room", " ".join([*quotes, long]))
    room = replace(
        room, document=replace(room.document, title=long, source_uri=f"https://example.org/{long}")
    )
    pieces = saying("According to the sources:\n", *(f"- “{one}” [1]\n" for one in quotes))
    with console(finding(room, generate=pieces)) as line, page_at(browser, line.url, width=360) as page:
        asked(page, "What rule holds for workers in which room?")
        expect(page.locator("#answer .marker")).to_have_count(150)
        page.locator("#answer .marker").last.click()
        expect(page.locator("#source-1 mark").last).to_be_visible()
        assert fits(page)
        pictured(page, "long-360")


def test_a_key_that_expired_is_asked_for_anew_and_the_question_with_it(
    browser: Browser, tmp_path: Path
) -> None:
    old, new = made("ward"), made("ward")
    path = tmp_path / "callers.json"

    def known(key: str) -> None:
        entry = {"id": "ward", "sha256": digest(key), "sub": "ward", "roles": ["reader"]}
        path.write_text(json.dumps({"keys": [entry]}))

    known(old)
    with console(callers=path) as line, page_at(browser, line.url) as page:
        sign_in(page, old)
        asked(page, QUESTION)
        expect(page.locator("#outcome")).to_have_text("Answered from the sources")
        known(new)
        typed(page, QUESTION)
        expect(page.locator("#refused")).to_be_visible()
        assert violations(page) == []
        pictured(page, "expired")
        sign_in(page, new)
        expect(page.locator("#outcome")).to_have_text("Answered from the sources")
        page.locator("#sign").click()  # out
        expect(page.locator("#sign-in")).to_be_visible()
        expect(page.locator("#refused")).to_be_hidden()
        assert page.evaluate("sessionStorage.length") == 0


def sign_in(page: Page, key: str) -> None:
    expect(page.locator("#sign-in")).to_be_visible()
    page.locator("#credential").fill(key)
    page.keyboard.press("Enter")
    expect(page.locator("#sign")).to_have_text("Sign out")


def test_a_refused_rate_says_when_to_come_back(browser: Browser) -> None:
    limits = Limits(rates=Rates(per_second=0.01, burst=2))  # one of them is the page's own, for the topics
    with console(limits=limits) as line, page_at(browser, line.url) as page:
        page.locator("#topics label").first.wait_for(state="attached")
        asked(page, QUESTION)
        asked(page, QUESTION)
        expect(page.locator("#result .problem")).to_contain_text("Try again in")
        expect(page.locator(".banner")).to_have_text("The answer failed")


def test_on_paper_stand_the_question_the_day_and_the_cited_passages_alone(browser: Browser) -> None:
    with console() as line, page_at(browser, line.url) as page:
        asked(page, QUESTION)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        expect(page.locator(".printed").first).to_have_text(QUESTION)
        expect(page.locator(".printed").nth(1)).to_contain_text("20")
        expect(page.locator("#source-1 mark")).to_be_visible()
        assert not page.locator("#source-2").get_attribute("open")
        for hidden in ("header", "#ask-form", ".actions", ".rating"):
            expect(page.locator(hidden)).to_be_hidden()
        expect(page.locator("footer")).to_be_visible()
        pictured(page, "print")


def test_question_citation_and_rating_need_no_mouse(browser: Browser) -> None:
    with console() as line, page_at(browser, line.url) as page:
        keys = page.keyboard
        reached(page, "#question")
        keys.type(QUESTION)
        keys.press("Control+Enter")
        page.locator("#outcome").wait_for()
        reached(page, ".marker")
        keys.press("Enter")
        expect(page.locator("#source-1 summary")).to_be_focused()
        reached(page, "#rating summary")
        keys.press("Space")
        reached(page, 'input[name="relevance"]')
        keys.press("Space")
        keys.press("ArrowRight")
        expect(page.locator('input[name="relevance"][value="2"]')).to_be_checked()
        reached(page, ".feedback button")
        keys.press(
            "Enter"
        )  # there is no ingest service here to keep it: the failure is said beside the button
        expect(page.locator(".feedback [role=status]")).not_to_be_empty()


def reached(page: Page, selector: str) -> None:
    """Presses Tab until the focus is there."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached with the Tab key")


def test_the_skip_link_leads_to_the_content_of_the_same_view(browser: Browser) -> None:
    with console() as line, page_at(browser, f"{line.url}#rate") as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#main")).to_be_focused()
        expect(page.locator("#view-rate")).to_be_visible()


def test_the_language_of_the_page_changes_and_the_answers_own_stays_marked(browser: Browser) -> None:
    with console() as line, page_at(browser, line.url) as page:
        asked(page, QUESTION)
        page.locator("#language").click()
        expect(page.locator("#outcome")).to_have_text("Ответ дан по источникам")
        assert page.evaluate("document.documentElement.lang") == "ru"
        assert page.locator("#answer").get_attribute("lang") == "en"
        assert violations(page) == []


def test_a_script_in_the_page_is_not_run(browser: Browser) -> None:
    with console() as line, browser.new_context() as context:
        page = context.new_page()
        page.goto(line.url)
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {text: 'hacked = 1'}))"
        )
        assert page.evaluate("typeof hacked") == "undefined"
