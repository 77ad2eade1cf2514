"""The README says what is there."""

import re

from cli import tree
from cli.places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_list_of_files_is_current() -> None:
    assert tree.written(README, tree.tracked()) == README, "run `make tree`"


def test_every_make_target_it_names_exists() -> None:
    named = set(re.findall(r"`make ([a-z-]+)", README))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named <= targets


def test_every_file_it_links_exists() -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
    assert [link for link in links if not (ROOT / link).exists()] == []
