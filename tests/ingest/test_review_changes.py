"""What changed, section by section: exactly what was edited, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.canonical import canonical
from ingest.review_changes import Change, changes

OLD = canonical("# Дозы\n\nВведение.\n\n## КТ\n\nПредел 20 мЗв.\n\nВторое.\n\n## МРТ\n\nНет дозы.\n")


def test_nothing_changed_in_the_same_text() -> None:
    assert changes(OLD, OLD) == []


def test_a_changed_line_is_told_with_its_section() -> None:
    (one,) = changes(OLD, OLD.replace("20 мЗв", "15 мЗв"))
    assert one == Change(("Дозы", "КТ"), "changed", ("Предел 20 мЗв.",), ("Предел 15 мЗв.",))


def test_sections_that_came_and_went_are_told_whole() -> None:
    new = OLD.replace("## МРТ\n\nНет дозы.\n", "## УЗИ\n\nТоже нет.\n\nСовсем.\n")
    assert changes(OLD, new) == [
        Change(("Дозы", "МРТ"), "removed", removed=("Нет дозы.",)),
        Change(("Дозы", "УЗИ"), "added", added=("Тоже нет.", "Совсем.")),
    ]


def test_text_before_the_first_heading_is_a_section_too() -> None:
    assert changes("a\n", "b\n") == [Change((), "changed", ("a",), ("b",))]


def test_sections_of_the_same_heading_are_taken_in_order() -> None:
    old, new = "# A\n\n1\n\n# A\n\n2\n", "# A\n\n1\n\n# A\n\n3\n"
    assert changes(old, new) == [Change(("A",), "changed", ("2",), ("3",))]


SECTION = st.tuples(st.sampled_from(["A", "Б", "В"]), st.lists(st.sampled_from(["x", "y", "ю"]), max_size=3))


def text_of(sections: list[tuple[str, list[str]]]) -> str:
    return canonical("\n\n".join("\n\n".join([f"# {title}", *lines]) for title, lines in sections))


@given(st.lists(SECTION, max_size=5), st.lists(SECTION, max_size=5))
def test_lines_told_account_for_the_whole_difference(
    old: list[tuple[str, list[str]]], new: list[tuple[str, list[str]]]
) -> None:
    before, after = text_of(old), text_of(new)
    found = changes(before, after)
    gone, came = sum(len(c.removed) for c in found), sum(len(c.added) for c in found)
    lines = [sum(len(lines) for _, lines in one) for one in (old, new)]
    assert lines[0] - gone + came == lines[1]
    assert (found == []) == (before == after)
