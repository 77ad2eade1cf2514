"""The measures of Markdown on texts small enough to count by hand."""

import importlib.util
import re
from pathlib import Path

import pytest

from cli.evaluate_markdown import below
from evaluation.pages import cells, f1, headings, held, matched, true_cells, words


def test_word_f1_counts_each_word_as_often_as_both_have_it() -> None:
    assert f1(words("a a b"), words("A b c")) == pytest.approx(4 / 6)
    assert f1([], []) == 0


def test_a_snippet_is_found_whatever_signs_stand_between_its_words() -> None:
    assert held("The dose, 5 mSv\n\nis low.", ["dose: 5 mSv is", "ose"]) == 1


def test_cells_of_a_table_and_of_its_truth() -> None:
    assert cells("text\n| a | b \\| c |\n| --- | --- |\n| 1 |  |") == ["a", "b c", "1"]
    xml = b"<document><table><region><cell><content>A b</content></cell></region></table></document>"
    assert true_cells(xml) == ["a b"]


def test_headings_match_once_and_nearly() -> None:
    assert headings("# One\ntext\n```\n# make\n```\n## Two three\n# …\n") == ["one", "two three"]
    assert matched(["dose limits", "dose limits", "noise"], ["dose limit", "order"]) == (1 / 3, 1 / 2)


def test_the_command_fails_where_ours_is_below_in_any_type_of_page() -> None:
    assert below({"a": 0.9, "b": 0.8}, {"a": 0.9, "b": 0.81}) == ["b"]


def test_make_prove_runs_the_prototype_on_the_same_pdfs() -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    assert "eval markdown --json $(PEER)" in makefile
    (module,) = re.findall(r"--peer '\$\(RUN\) -m ([\w.]+) \S+'", makefile)
    assert importlib.util.find_spec(module)
