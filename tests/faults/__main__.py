"""Provokes every fault of the table and prints what came of it: `make faults`."""

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from cli.places import ROOT
from tests.faults.table import FAULTS, Fault

ROW = "{:<46}{:<34}{:<30}{:<9}{:>7}"


def main() -> int:
    """Status 1 when one of them was not met as the table says."""
    results = ran([f"tests/{fault.test}" for fault in FAULTS])
    lines = [ROW.format("fault", "status", "degraded", "met", "seconds")]
    missed = 0
    for fault in FAULTS:
        met, seconds = results.get(key(fault), (False, 0.0))
        missed += not met
        said = "yes" if met else "NO"
        lines.append(ROW.format(fault.what, fault.status, fault.degraded, said, f"{seconds:.1f}"))
    lines.append(f"{len(FAULTS) - missed} of {len(FAULTS)} as the table says")
    sys.stdout.write("\n".join(lines) + "\n")
    return bool(missed)


def key(fault: Fault) -> tuple[str, str]:
    """A fault's test as the report names it: module and function."""
    file, _, test = fault.test.partition("::")
    return "tests." + file.removesuffix(".py").replace("/", "."), test


def ran(names: list[str]) -> dict[tuple[str, str], tuple[bool, float]]:
    """Whether each test passed, and in what time; the cases of one test count together."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        line = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *dict.fromkeys(names)]
        subprocess.run(line, cwd=ROOT, check=False)
        cases = list(ElementTree.parse(report).iter("testcase"))
    found: dict[tuple[str, str], tuple[bool, float]] = {}
    for case in cases:
        name = (case.attrib["classname"], case.attrib["name"].partition("[")[0])
        good, seconds = found.get(name, (True, 0.0))
        found[name] = (good and len(case) == 0, seconds + float(case.attrib["time"]))
    return found


if __name__ == "__main__":
    sys.exit(main())
