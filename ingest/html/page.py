"""Reads an HTML page: decodes it, finds what it is about, writes that as Markdown."""

import re
import warnings

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from bs4.dammit import EncodingDetector

from ingest.canonical import canonical
from ingest.document import Parsed
from ingest.encoding import decode
from ingest.html.blocks import blocks_of
from ingest.html.content import content_of
from ingest.html.inline import line_of
from ingest.html.judge import JudgeFailed, keep_main, main_text
from ingest.html.prune import prune, prune_hidden
from ingest.load import Source

# Measured by `radrag eval markdown`: below a half trafilatura has missed the lists of a page.
FEWEST_WORDS = 20  # of its text: with fewer it found next to nothing
LEAST_JUDGED = 0.5  # words of its text to those our own rules keep
LEAST_FOUND = 0.7  # words found again in the page's structure to those of its text
XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")


def parse_html(source: Source) -> Parsed:
    """The page's main content as Markdown. Its title is its first heading, else the page's own title."""
    html = text_of(source)
    soup = soup_of(html)
    language, page_title = declared_language(soup), line_of(soup.title) if soup.title else ""
    prune_hidden(soup)
    heading = soup.find("h1")
    title = (line_of(heading) if isinstance(heading, Tag) else "") or page_title
    blocks, flags = judged_blocks(html, soup)
    return Parsed(canonical("\n\n".join(blocks)), title, "beautifulsoup", language=language, flags=flags)


def judged_blocks(html: str, soup: BeautifulSoup) -> tuple[list[str], tuple[str, ...]]:
    """The main blocks, and what a reviewer should know of how they were found."""
    try:
        return main_blocks(html, soup), ()
    except JudgeFailed:
        return own_blocks(soup_of(html)), ("judge_failed",)


def main_blocks(html: str, soup: BeautifulSoup) -> list[str]:
    """What trafilatura takes for the main text; by our own rules where these find far more, as in lists.

    `soup` is the page without what no reader sees; its pieces that are not kept are taken out.
    Raises JudgeFailed.
    """
    own, main = own_blocks(soup_of(html)), main_text(html)
    if words(main) <= max(FEWEST_WORDS, LEAST_JUDGED * words(*own)):
        return own
    body = soup.body or soup
    keep_main(body, main)
    judged = blocks_of(body)
    return (
        judged if words(*judged) >= LEAST_FOUND * words(main) else max(judged, own, key=lambda b: words(*b))
    )


def own_blocks(soup: BeautifulSoup) -> list[str]:
    """By the page's own marks and the weight of its paragraphs, below its title."""
    prune(soup)
    blocks, heading = blocks_of(content_of(soup)), soup.find("h1")
    title = line_of(heading) if isinstance(heading, Tag) else ""
    titled = not title or any(block.startswith("# ") for block in blocks)
    return blocks if titled else [f"# {title}", *blocks]


def words(*texts: str) -> int:
    return sum(len(text.split()) for text in texts)


def text_of(source: Source) -> str:
    declared = EncodingDetector.find_declared_encoding(source.data[:4096], is_html=True)
    return XML_DECLARATION.sub("", decode(source.name, source.data, declared)[0])


def soup_of(html: str) -> BeautifulSoup:
    """The parsed tree. lxml is handed text, never bytes: it believes wrong declarations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return BeautifulSoup(html, "lxml")


def declared_language(soup: BeautifulSoup) -> str:
    """The two letters of `lang` on the root when they are English or Russian; else empty."""
    root = soup.find("html")
    code = str(root.get("lang") or "")[:2].lower() if isinstance(root, Tag) else ""
    return code if code in {"en", "ru"} else ""
