"""Takes out of a page what no reader sees and what is not its content: hidden parts, navigation, banners."""

import re

from bs4 import BeautifulSoup, Comment, Tag

DROPPED = (
    *(
        "script",
        "style",
        "noscript",
        "template",
        "iframe",
        "svg",
        "canvas",
        "object",
        "embed",
        "link",
        "meta",
    ),
    *("form", "button", "input", "select", "textarea", "img", "picture", "video", "audio"),
    *("nav", "aside", "footer", "dialog"),
)
ROLES = {"navigation", "banner", "contentinfo", "complementary", "dialog", "alertdialog", "search"}
HIDING = re.compile(
    r"(display\s*:\s*none|visibility\s*:\s*hidden|(font-size|opacity)\s*:\s*0([^.\d]|$))", re.I
)
BOILERPLATE = re.compile(
    r"(^|[-_ ])(cookies?|consent|gdpr|banner|popup|modal|overlay|subscri\w*|newsletter|share|sharing|social|"
    r"related|recommend\w*|comments?|disqus|breadcrumbs?|promo|advert\w*|ads?|sponsor\w*|sidebar|side-?bar|menu|"
    r"nav|navbar|navigation|footer|toc|mw-editsection|noprint|printfooter|catlinks|navbox|skip|pagination|pager|"
    r"rating|tags?|print|toolbar|widget|login|signup|metabar|infobar|sr-only|visually-hidden|screen-reader-text|"
    r"hidden)($|[-_ ])",
    re.I,
)
# Their class names say nothing about being content: a page's own frame and the parts of tables and code.
TRUSTED = {"html", "body", "main", "article", "table", "tbody", "thead", "tr", "td", "th", "pre", "code"}
LARGEST_BOILERPLATE = 0.35  # share of a page's text that a class name alone may remove


def prune(soup: BeautifulSoup) -> None:
    """Removes them in place."""
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for tag in soup(list(DROPPED)):
        tag.decompose()
    total = max(1, len(soup.get_text(strip=True)))
    for tag in soup.find_all(True):
        if not tag.decomposed and is_unwanted(tag, total):
            tag.decompose()


def is_unwanted(tag: Tag, total: int) -> bool:
    return tag.name not in {"html", "body"} and (is_hidden(tag) or is_boilerplate(tag, total))


def is_hidden(tag: Tag) -> bool:
    marks = tag.attrs
    if "hidden" in marks or marks.get("aria-hidden") == "true" or marks.get("role") in ROLES:
        return True
    return HIDING.search(str(marks.get("style", ""))) is not None


def is_boilerplate(tag: Tag, total: int) -> bool:
    if tag.name in TRUSTED or not BOILERPLATE.search(names_of(tag)):
        return False
    return len(tag.get_text(strip=True)) < LARGEST_BOILERPLATE * total


def names_of(tag: Tag) -> str:
    classes = tag.get("class") or ""
    return f"{classes if isinstance(classes, str) else ' '.join(classes)} {tag.get('id') or ''}"
