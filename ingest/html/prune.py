"""Takes out of a page what no reader sees and what is not its content: hidden parts, navigation, banners."""

import re
from collections import defaultdict

from bs4 import BeautifulSoup, Comment, Tag

DROPPED = (
    *(
        "script",
        "style",
        "template",
        "iframe",
        "svg",
        "canvas",
        "object",
        "embed",
        "link",
        "meta",
    ),
    *("button", "input", "select", "textarea", "img", "picture", "video", "audio", "dialog"),
)
ASIDE = {"nav", "aside", "footer", "form"}
ROLES = {"navigation", "banner", "contentinfo", "complementary", "dialog", "alertdialog", "search"}
HIDING = re.compile(
    r"(display\s*:\s*none|visibility\s*:\s*hidden|(font-size|opacity)\s*:\s*0([^.\d]|$))", re.I
)
BOILERPLATE = re.compile(
    r"(?:^|[-_ ])("
    r"cookies?|consent|gdpr|banner|popup|modal|overlay|subscri\w*|newsletter|share|sharing|social|"
    r"related|recommend\w*|comments?|disqus|breadcrumbs?|promo|advert\w*|ads?|sponsor\w*|sidebar|side-?bar|menu|"
    r"nav|navbar|navigation|footer|toc|mw-editsection|noprint|printfooter|catlinks|navbox|skip|pagination|pager|"
    r"rating|tags?|print|toolbar|widget|login|signup|metabar|infobar|sr-only|visually-hidden|screen-reader-text|"
    r"hidden)(?:$|[-_ ])",
    re.I,
)
# Their class names say nothing about being content: a page's own frame and the parts of tables and code.
TRUSTED = {"html", "body", "main", "article", "table", "tbody", "thead", "tr", "td", "th", "pre", "code"}
# Shares of a page's text. What one reason would take beyond them is content that only looks like it: the
# answers of a forum are comments, and scripts show what style sheets hide.
MOST = {"unscripted": 0.5, "hidden": 0.4, "class": 0.35, "aside": 0.5}


def prune(soup: BeautifulSoup) -> None:
    """Removes them in place."""
    prune_hidden(soup)
    for kind in ("class", "aside"):
        take_out(soup, kind)


def prune_hidden(soup: BeautifulSoup) -> None:
    """Removes in place only what no reader sees."""
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for tag in soup(list(DROPPED)):
        tag.decompose()
    for kind in ("unscripted", "hidden"):
        take_out(soup, kind)


def take_out(soup: BeautifulSoup, kind: str) -> None:
    total = max(1, size(soup))
    for tags in unwanted(soup, kind).values():
        if sum(map(size, tags)) < MOST[kind] * total:
            for tag in tags:
                tag.decompose()


def unwanted(soup: BeautifulSoup, kind: str) -> dict[str, list[Tag]]:
    """The outermost elements to go, by the reason; one inside of another reason's goes with that."""
    found: dict[str, list[Tag]] = defaultdict(list)
    for tag in soup.find_all(True):
        if tag.name not in {"html", "body"} and (reason := reason_for(tag, kind)):
            found[reason].append(tag)
    return {reason: outermost(tags) for reason, tags in found.items()}


def reason_for(tag: Tag, kind: str) -> str:
    """Why an element should go; empty when it should not."""
    if kind == "unscripted":
        return tag.name if tag.name == "noscript" else ""
    if kind == "hidden":
        return "hidden" if is_hidden(tag) else ""
    if kind == "aside":
        role = str(tag.attrs.get("role", ""))
        return tag.name if tag.name in ASIDE else role if role in ROLES else ""
    named = None if tag.name in TRUSTED else BOILERPLATE.search(names_of(tag))
    return named.group(1).lower().rstrip("s") if named else ""


def outermost(tags: list[Tag]) -> list[Tag]:
    """Those that are not inside another of them; they come in document order."""
    kept: list[Tag] = []
    inside: set[int] = set()
    for tag in tags:
        if not any(id(parent) in inside for parent in tag.parents):
            kept.append(tag)
            inside.add(id(tag))
    return kept


def is_hidden(tag: Tag) -> bool:
    marks = tag.attrs
    if "hidden" in marks or marks.get("aria-hidden") == "true":
        return True
    return HIDING.search(str(marks.get("style", ""))) is not None


def size(tag: Tag) -> int:
    """Characters of text; 0 once it is gone."""
    return 0 if tag.decomposed else len(tag.get_text(strip=True))


def names_of(tag: Tag) -> str:
    classes = tag.get("class") or ""
    return f"{classes if isinstance(classes, str) else ' '.join(classes)} {tag.get('id') or ''}"
