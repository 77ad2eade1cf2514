"""Reads an HTML page: decodes it, finds what it is about, writes that as Markdown."""

import re
import warnings

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from bs4.dammit import EncodingDetector

from ingest.canonical import canonical
from ingest.document import Parsed
from ingest.encoding import decode, flags_of, on_record
from ingest.html.blocks import blocks_of
from ingest.html.content import content_of
from ingest.html.inline import line_of
from ingest.html.judge import JudgeFailed, keep_main, main_text
from ingest.html.prune import prune, prune_hidden
from ingest.load import Source
from ingest.refusal import refused

# Measured by `radrag eval markdown`: below a half trafilatura has missed the lists of a page.
FEWEST_WORDS = 20  # of its text: with fewer it found next to nothing
LEAST_JUDGED = 0.5  # words of its text to those our own rules keep
LEAST_FOUND = 0.7  # words found again in the page's structure to those of its text
DEEPEST = 200  # pages of the web have some dozens
XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")


def parse_html(source: Source) -> Parsed:
    """The page's main content as Markdown. Its title is its first heading, else the page's own title.

    Raises InvalidArgument.
    """
    html, encoding = text_of(source)
    soup = soup_of(html)
    if depth_of(soup) > DEEPEST:
        raise refused(
            source.name, "content", f"its elements are nested deeper than {DEEPEST}, which is the limit"
        )
    language, page_title = declared_language(soup), line_of(soup.title) if soup.title else ""
    prune_hidden(soup)
    heading = soup.find("h1")
    title = (line_of(heading) if isinstance(heading, Tag) else "") or page_title
    blocks, flags = judged_blocks(html, soup)
    engine, flags = on_record("beautifulsoup", encoding), (*flags_of(encoding), *flags)
    return Parsed(canonical("\n\n".join(blocks)), title, engine, language=language, flags=flags)


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


def text_of(source: Source) -> tuple[str, str]:
    """The page's text and its encoding."""
    declared = EncodingDetector.find_declared_encoding(source.data[:4096], is_html=True)
    text, encoding = decode(source.name, source.data, declared)
    return XML_DECLARATION.sub("", text), encoding


def soup_of(html: str) -> BeautifulSoup:
    """The parsed tree. lxml is handed text, never bytes: it believes wrong declarations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return BeautifulSoup(html, "lxml")


def depth_of(soup: BeautifulSoup) -> int:
    """How many elements stand inside one another: what works on them takes the square of it."""
    deepest = 0
    left: list[tuple[Tag, int]] = [(soup, 0)]
    while left:
        node, depth = left.pop()
        deepest = max(deepest, depth)
        left += [(child, depth + 1) for child in node.children if isinstance(child, Tag)]
    return deepest


def declared_language(soup: BeautifulSoup) -> str:
    """The two letters of `lang` on the root when they are English or Russian; else empty."""
    root = soup.find("html")
    code = str(root.get("lang") or "")[:2].lower() if isinstance(root, Tag) else ""
    return code if code in {"en", "ru"} else ""
