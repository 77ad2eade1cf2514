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
from ingest.html.prune import prune
from ingest.load import Source

XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")


def parse_html(source: Source) -> Parsed:
    """The page's main content as Markdown. Its title is the main heading, else the page's own title."""
    soup = soup_of(source)
    page_title = line_of(soup.title) if soup.title else ""
    heading = soup.find("h1")
    title = line_of(heading) if isinstance(heading, Tag) else ""
    prune(soup)
    blocks = blocks_of(content_of(soup))
    if title and not any(block.startswith("# ") for block in blocks):
        blocks.insert(0, f"# {title}")
    language = declared_language(soup)
    return Parsed(canonical("\n\n".join(blocks)), title or page_title, "beautifulsoup", language=language)


def soup_of(source: Source) -> BeautifulSoup:
    """The parsed tree. lxml is handed text, never bytes: it believes wrong declarations."""
    declared = EncodingDetector.find_declared_encoding(source.data[:4096], is_html=True)
    text = XML_DECLARATION.sub("", decode(source.name, source.data, declared)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return BeautifulSoup(text, "lxml")


def declared_language(soup: BeautifulSoup) -> str:
    """The two letters of `lang` on the root when they are English or Russian; else empty."""
    root = soup.find("html")
    code = str(root.get("lang") or "")[:2].lower() if isinstance(root, Tag) else ""
    return code if code in {"en", "ru"} else ""
