"""Finds the element that holds a page's main content."""

from bs4 import BeautifulSoup, Tag

MARKED = "main, article, [role=main], [itemprop=articleBody]"
TEXT_TAGS = ["p", "pre", "table", "ul", "ol", "blockquote", "dl", "h2", "h3"]
LEAST_SHARE = 0.3  # of the page's text that a marked element must hold to be believed
FADE = 0.8  # how much of a paragraph's weight each further ancestor gets
FAINTEST = 0.2


def content_of(soup: BeautifulSoup) -> Tag:
    """The element a page marks as its content, else the one whose paragraphs weigh most."""
    body = soup.body or soup
    total = max(1, length(body))
    marked = [tag for tag in soup.select(MARKED) if length(tag) > LEAST_SHARE * total]
    return max(marked, key=density) if marked else heaviest(body)


def heaviest(body: Tag) -> Tag:
    weights: dict[int, float] = {}
    tags: dict[int, Tag] = {id(body): body}
    for paragraph in body.find_all(TEXT_TAGS):
        share = max(0.0, length(paragraph) - 1.5 * link_length(paragraph))
        for depth, tag in enumerate(ancestors(paragraph)):
            tags[id(tag)] = tag
            weights[id(tag)] = weights.get(id(tag), 0.0) + share * FADE**depth
    return tags[max(weights, key=lambda key: weights[key])] if weights else body


def ancestors(tag: Tag) -> list[Tag]:
    found: list[Tag] = []
    node = tag.parent
    while node is not None and node.name not in {"html", "[document]"} and FADE ** len(found) > FAINTEST:
        found.append(node)
        node = node.parent
    return found


def length(tag: Tag) -> int:
    return len(tag.get_text(" ", strip=True))


def link_length(tag: Tag) -> int:
    return sum(length(link) for link in tag.find_all("a"))


def density(tag: Tag) -> int:
    return length(tag) - 2 * link_length(tag)
