"""The page of contracts is that of the protos as they are, and the documents' links lead somewhere."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from cli import contracts
from cli.arguments import parser
from gateway.web.routes import ROUTES

ROOT = Path(__file__).parent.parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
READMES = sorted([*ROOT.glob("*.md"), *ROOT.glob("*/README.md")])


def test_the_page_is_current() -> None:
    """Fails when a proto changed without `make protos`."""
    buf = Path(sys.executable).parent / "buf"
    built = subprocess.run(
        [buf, "build", "--as-file-descriptor-set", "-o", "-"], cwd=ROOT, capture_output=True, check=True
    )
    page = contracts.page(FileDescriptorSet.FromString(built.stdout))
    assert page == (ROOT / "docs/reference.md").read_text()


@pytest.mark.parametrize("page", [*DOCS, *READMES], ids=lambda page: f"{page.parent.name}/{page.name}")
def test_links_between_pages_and_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target
    for file in re.findall(r"`((?:examples|protos|docs)/[\w./-]*)`", page.read_text()):
        assert (ROOT / file).exists(), file


def test_every_page_is_on_the_site() -> None:
    listed = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert {file for entry in listed for file in entry.values()} == {page.name for page in DOCS}


def test_every_path_and_command_named_exists() -> None:
    text = "\n".join(page.read_text() for page in DOCS)
    rest = (ROOT / "docs/rest.md").read_text()
    for route in ROUTES:
        last = re.escape(route.path.rpartition("/")[2])
        assert re.search(rf"[`/]{last}`", rest), route.path
    for word in re.findall(r"(?:`|bin/)radrag ([a-z]+)", text):
        assert f"\n    {word} " in parser().format_help(), word


def test_code_in_pages_is_code() -> None:
    for page in DOCS:
        for language, block in re.findall(r"```(python|json)\n(.*?)```", page.read_text(), re.DOTALL):
            if language == "json":
                json.loads(block)
            else:
                compile(block, page.name, "exec")
