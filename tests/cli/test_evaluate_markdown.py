"""What `radrag eval markdown` compares: another program's tables by the same cells, page types one by one."""

import sys
from pathlib import Path

from cli.evaluate_markdown import below, beside

CELLS = "".join(f"<cell><content>{text}</content></cell>" for text in ("Доза", "60 мГр"))
TRUTH = f"<document><table>{CELLS}</table></document>"


def test_a_peer_is_given_each_pdf_and_scored_by_the_cells_it_prints(tmp_path: Path) -> None:
    files = [tmp_path / "one.pdf", tmp_path / "two.pdf"]
    for file in files:
        file.write_bytes(b"%PDF-")
        file.with_name(f"{file.stem}-str.xml").write_text(TRUTH)
    program = tmp_path / "peer.py"
    program.write_text(
        "import sys\n"
        "if sys.argv[1].endswith('two.pdf'): sys.exit(1)\n"
        "sys.stdout.reconfigure(encoding='utf-8')\n"
        "print('| Доза | 60 мГр |')\n"
    )
    found = beside([sys.executable, str(program)], files)
    assert found == {"one": 1.0, "two": 0.0, "all": 0.5}


def test_a_type_of_page_in_which_ours_is_worse_is_named() -> None:
    assert below({"article": 0.90, "forum": 0.8}, {"article": 0.91, "forum": 0.8}) == ["article"]
