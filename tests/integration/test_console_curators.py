"""The console's review queue and study form in a real browser, against the real catalogue."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from playwright.sync_api import Browser, Locator, Page, expect

from evaluation.experts import plan as planning
from evaluation.experts import ratings
from tests.browser import browsing, fits, needs_chromium, page_at, pictured, violations
from tests.gateway.web.test_console import reached
from tests.integration.conftest import Stack

pytestmark = needs_chromium

EVIL = "Reviewed <img src=x onerror=alert(1)>"
TEXT = f"""# {EVIL}

## Limits

Old words.

## Rules

{" ".join(f"Rule {number} holds in room {number}." for number in range(60))}
"""
REFERENCES = """
# References

1. Smith J., Jones K. Contrast safety. Radiology 2019; 12: 33-40. doi:10.1000/1
2. Brown A. et al. Iodine. Eur Radiol 2020; 30: 1-9. doi:10.1000/2
"""
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


def taken_in(stack: Stack, path: Path, *more: str) -> None:
    done = stack.radrag("ingest", str(path), "--topic", "safety", *more)
    assert done.returncode == 0, done.stdout + done.stderr


def beside(left: Locator, right: Locator) -> bool:
    one, other = left.bounding_box(), right.bounding_box()
    return bool(one and other and one["y"] == other["y"] and one["x"] + one["width"] <= other["x"])


def opened(page: Page, title: str) -> None:
    page.locator(".entry", has_text=title).click()
    expect(page.locator("#version h2")).to_be_focused()


def test_a_new_version_is_compared_approved_and_published(
    light: Stack, browser: Browser, tmp_path: Path
) -> None:
    document = tmp_path / "reviewed-here.md"
    document.write_text(TEXT)
    taken_in(light, document, "--approve")
    document.write_text(TEXT.replace("Old words.", "New words.") + REFERENCES)
    taken_in(light, document)
    with page_at(browser, f"{light.http}/console/#review") as page:
        opened(page, "Reviewed <img")
        expect(page.locator(".change pre.removed")).to_have_text("Old words.")
        expect(page.locator(".change pre.added")).to_have_text("New words.")
        assert beside(page.locator(".change pre.removed"), page.locator(".change pre.added"))
        page.locator("summary", has_text="references: 1").click()
        expect(page.locator("details pre.removed")).to_contain_text("Smith J., Jones K.")
        assert page.locator("#view-review img").count() == 0
        assert violations(page) == []
        pictured(page, "review")
        page.get_by_role("button", name="Reject").click()
        expect(page.locator("#version [role=status]")).to_have_text("A rejection needs a reason.")
        page.get_by_role("button", name="Approve").click()
        expect(page.locator("#version")).to_contain_text("Now: approved")
        opened(page, "Reviewed <img")
        page.get_by_role("button", name="Publish").click()
        expect(page.locator("#version")).to_contain_text("Now: published")
    shown = light.radrag("kb", "list")
    assert sum("reviewed-here" in line and "published" in line for line in shown.stdout.splitlines()) == 1


def test_a_curator_approves_and_publishes_without_a_mouse(
    light: Stack, browser: Browser, tmp_path: Path
) -> None:
    document = tmp_path / "by-keyboard.md"
    document.write_text(
        "# Approved by keyboard\n\nThe quiet room is room 12, behind the second door on the left.\n"
    )
    taken_in(light, document)
    with page_at(browser, f"{light.http}/console/") as page:
        reached(page, 'nav a[href="#review"]')
        page.keyboard.press("Enter")
        expect(page.locator(".entry", has_text="Approved by keyboard")).to_be_visible()
        for button, state in (("Approve", "approved"), ("Publish", "published")):
            focused(page, ".entry", "Approved by keyboard")
            page.keyboard.press("Enter")
            expect(page.locator("#version h2")).to_be_focused()
            focused(page, ".decision button", button)
            page.keyboard.press("Enter")
            expect(page.locator("#version")).to_contain_text(f"Now: {state}")
    shown = light.radrag("kb", "list")
    assert sum("by-keyboard" in line and "published" in line for line in shown.stdout.splitlines()) == 1


def focused(page: Page, selector: str, text: str) -> None:
    """Presses Tab until the focus is on the one of these that says so."""
    for _ in range(20):
        reached(page, selector)
        if text in page.evaluate("document.activeElement.textContent"):
            return
    raise AssertionError(f"{text} is not reached with the Tab key")


def test_a_near_duplicate_is_flagged_and_rejected_with_a_reason_at_360_pixels(
    light: Stack, browser: Browser, tmp_path: Path
) -> None:
    """It is like the document of the test before, or of this one when it runs alone."""
    for name, title in (("twin-one.md", "The first twin"), ("twin-two.md", "The second twin")):
        (tmp_path / name).write_text(TEXT.replace(EVIL, title).replace("Old words.", f"Words of {title}."))
        taken_in(light, tmp_path / name)
    url = f"{light.http}/console/#review"
    with page_at(browser, url, width=360, color_scheme="dark") as page:
        expect(page.locator(".entry", has_text="The second twin").locator(".badge")).to_have_text(
            "near duplicate"
        )
        opened(page, "The second twin")
        expect(page.locator("#version")).to_contain_text("Nearly the same text")
        expect(page.locator("#version")).to_contain_text("The first twin (in review, ")
        assert fits(page)
        assert violations(page) == []
        pictured(page, "near-duplicate-360")
        page.locator("#reason").fill("It says the same.")
        page.get_by_role("button", name="Reject").click()
        expect(page.locator("#version")).to_contain_text("Now: rejected")
        expect(page.locator(".entry", has_text="The second twin")).to_have_count(0)
    assert "It says the same." in light.radrag("kb", "show", "twin-two.md").stdout


def test_pages_that_ocr_is_unsure_of_stand_out(light: Stack, browser: Browser, tmp_path: Path) -> None:
    scan(tmp_path / "scanned.pdf")
    taken_in(light, tmp_path / "scanned.pdf")
    with page_at(browser, f"{light.http}/console/#review") as page:
        opened(page, "scanned")
        row = page.locator("#version tbody tr")
        expect(row).to_contain_text("tesseract")
        expect(row).to_have_class("unsure")
        assert float(row.locator(".number").inner_text()) < 0.85
        expect(page.locator("#version li", has_text="OCR is unsure")).to_be_visible()
        page.locator("#language").click()
        expect(page.locator(".entry", has_text="scanned")).to_contain_text("OCR не уверен")


def scan(path: Path) -> None:
    """One page that is hard to read."""
    font = ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", 26)
    page = Image.new("L", (1240, 1754), 250)
    for row, line in enumerate(["The dose limit for the lens is 20 mSv a year."] * 4):
        ImageDraw.Draw(page).text((110, 140 + 60 * row), line, font=font, fill=120)
    page.filter(ImageFilter.GaussianBlur(3.2)).save(path, resolution=150)


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
        expect(page.locator("#questions > .hint")).to_have_text("1 worst, 5 best")
        assert violations(page) == []
        pictured(page, "study")
        with page.expect_download() as download:
            page.get_by_role("button", name="Export ratings").click()
        download.value.save_as(tmp_path / "ratings.jsonl")
    found = ratings.read(tmp_path / "ratings.jsonl")
    assert [(one.criterion, one.rank, one.value) for one in found] == [
        ("correctness", 0, 1), ("completeness", 0, 2), ("clarity", 0, 3),
        ("usefulness", 1, 4), ("usefulness", 2, 5),
    ]  # fmt: skip


def test_a_plan_of_the_command_opens_and_is_rated_at_360_pixels(
    light: Stack, browser: Browser, tmp_path: Path
) -> None:
    """A plan as `radrag eval experts plan` writes it, whose answers and sources are long."""
    (tmp_path / "questions.jsonl").write_text(
        "".join(f"{json.dumps(one)}\n" for one in map(question, range(6)))
    )
    (tmp_path / "raters.csv").write_text("rater,department\nR1,CT\nR2,MRI\nR3,CT\nR4,MRI\n")
    words = (
        "eval",
        "experts",
        "plan",
        "questions.jsonl",
        "raters.csv",
        "study",
        "--groups",
        "2",
        "--seed",
        "7",
    )
    done = light.radrag(*(str(tmp_path / one) if one in NAMES else one for one in words))
    assert done.returncode == 0, done.stderr
    plan = planning.read(tmp_path / "study" / "plan.json")
    group = plan.rater_group("R3")
    assert group is not None
    own = plan.questions_of(group)
    with page_at(browser, f"{light.http}/console/#rate", width=360) as page:
        page.locator("#plan").set_input_files(tmp_path / "study" / "plan.json")
        page.locator("#rater-name").select_option("R3")
        expect(page.locator("#questions .card h2")).to_have_text([one.question for one in own])
        for one in page.locator("#questions .scale").all():
            one.locator("input").last.check()
        expect(page.locator(".progress")).to_have_text(f"{5 * len(own)} / {5 * len(own)} rated")
        assert fits(page)
        assert violations(page) == []
        pictured(page, "study-360")
        with page.expect_download() as download:
            page.get_by_role("button", name="Export ratings").click()
        download.value.save_as(tmp_path / "ratings.jsonl")
    found = ratings.checked(plan, ratings.read(tmp_path / "ratings.jsonl"), tmp_path / "ratings.jsonl")
    assert {one.question for one in found} == {one.id for one in own}


NAMES = ("questions.jsonl", "raters.csv", "study")


def question(number: int) -> dict[str, object]:
    return {
        "id": f"q{number}", "department": ("CT", "MRI")[number % 2], "author": "somebody else",
        "question": f"What does rule {number} say of gadolinium-based contrast media in renal impairment?",
        "answer": f"Rule {number} says: “{'wait and hydrate; ' * 12}” [1]",
        "sources": [f"The first source of rule {number}. " * 8, "https://example.org/" + "x" * 120],
    }  # fmt: skip
