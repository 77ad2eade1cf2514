"""Debian's Chromium, driven over the DevTools protocol; it phones nobody."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or ""
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 60_000  # milliseconds; the machine may be busy
expect.set_options(timeout=PATIENCE)

# CI installs one; there its absence is a fault, which `browsing` tells.
needs_chromium = pytest.mark.skipif(
    not CHROMIUM and os.environ.get("CI") != "true",
    reason="no chromium on this machine: make chromium, or apt-get install chromium",
)


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser."""
    assert CHROMIUM, "no chromium on this machine: make chromium installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def page_at(browser: Browser, url: str, width: int = 1100, **more: Any) -> Iterator[Page]:
    """A page. Fails for a script error, a violated policy, or a request to anybody but the service."""
    context = browser.new_context(viewport={"width": width, "height": 850}, locale="en-US", **more)
    context.set_default_timeout(PATIENCE)
    page, faults, asked = context.new_page(), list[str](), list[str]()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if "Security Policy" in said.text else None)
    page.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    yield page
    origin = url.split("/console", maxsplit=1)[0]
    strangers = [one for one in asked if not one.startswith((origin, "blob:", "data:"))]
    context.close()
    assert faults == []
    assert strangers == []


def asked(page: Page, question: str) -> None:
    """Asks with the keyboard alone and waits for the end."""
    typed(page, question)
    page.locator("#result[aria-busy=false] .banner").wait_for()


def typed(page: Page, question: str) -> None:
    """Asks with the keyboard alone."""
    page.locator("#question").fill("")
    page.keyboard.type(question)
    expect(page.locator("#question")).to_have_value(question)
    page.keyboard.press("Control+Enter")


def violations(page: Page) -> list[str]:
    """What axe finds serious or critical on the page as it is."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def fits(page: Page) -> bool:
    """Whether nothing stands out of the page to the side."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def pictured(page: Page, name: str) -> None:
    """Keeps a picture for people to look at, where RADRAG_TEST_PICTURES names a folder."""
    if folder := os.environ.get("RADRAG_TEST_PICTURES"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
