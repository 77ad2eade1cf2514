"""Writes a rectangle of cells as a Markdown table: the one form tables have, whatever file they came from."""

Grid = list[list[str]]


def markdown_table(grid: Grid, header_rows: int = 1) -> str:
    """A pipe table. Several header rows become one, since Markdown knows one: "Dose / mSv"."""
    head = [" / ".join(distinct(column)) for column in zip(*grid[:header_rows], strict=True)]
    body = grid[header_rows:]
    return "\n".join([row(head), "|" + " --- |" * len(head), *(row(cells) for cells in body)])


def distinct(values: tuple[str, ...]) -> list[str]:
    """The values in order, without empty ones and repetitions."""
    return list(dict.fromkeys(value for value in values if value))


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
