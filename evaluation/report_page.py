"""Results of measurements as one report: the same sections in Markdown and in a single HTML file."""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.report import Table, markdown

STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#111}
table{border-collapse:collapse;font-size:.85rem;display:block;overflow-x:auto;margin:1rem 0}
td,th{border:1px solid #999;padding:.2rem .5rem;text-align:left}
img{max-width:100%}code{background:#eee}figcaption{font-size:.85rem}"""


@dataclass(frozen=True)
class Section:
    """A result: what it is, its tables, its figures (file, caption), and what redoes it."""

    title: str
    tables: Sequence[Table]
    figures: Sequence[tuple[Path, str]] = ()
    facts: dict[str, str] = field(default_factory=dict)


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """The report in Markdown; figures are linked by their file's name."""
    parts = [f"# {title}"]
    for section in sections:
        parts.append(f"## {section.title}")
        parts += [markdown(table) for table in section.tables]
        parts += [f"![{caption}]({path.name})\n\n{caption}" for path, caption in section.figures]
        parts.append("\n".join(f"* {name}: `{value}`" for name, value in section.facts.items()))
    return "\n\n".join(part for part in parts if part) + "\n"


def as_html(title: str, sections: Sequence[Section]) -> str:
    """The report as one HTML file: figures inside, no script, nothing from elsewhere."""
    body = [f"<h1>{html.escape(title)}</h1>"]
    for section in sections:
        body.append(f"<h2>{html.escape(section.title)}</h2>")
        body += [_table(table) for table in section.tables]
        body += [_figure(*figure) for figure in section.figures]
        facts = (f"<li>{html.escape(k)}: <code>{html.escape(v)}</code>" for k, v in section.facts.items())
        body.append(f"<ul>{''.join(facts)}</ul>")
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'


def _table(table: Table) -> str:
    headings, rows = table
    head = "".join(f"<th>{html.escape(cell)}" for cell in headings)
    lines = ("<tr>" + "".join(f"<td>{html.escape(cell)}" for cell in row) for row in rows)
    return f"<table><thead><tr>{head}</thead><tbody>{''.join(lines)}</tbody></table>"


def _figure(path: Path, caption: str) -> str:
    image = base64.b64encode(path.read_bytes()).decode()
    said = html.escape(caption)
    shown = f'<img alt="{said}" src="data:image/png;base64,{image}">'
    return f"<figure>{shown}<figcaption>{said}</figcaption></figure>"
