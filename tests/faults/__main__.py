"""Provokes every fault of the table and prints what came of it: `make faults`."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from cli.places import ROOT
from tests.faults.table import FAULTS, Fault

ROW = "{:<47}{:<26}{:<31}{:<26}{:<19}{:<7}{:<5}{:>7}"
HEAD = ("fault", "status", "degraded", "alert", "well again after", "it was", "met", "seconds")


@dataclass
class Result:
    """What came of a test: whether it passed, how long it took, when all was well again where it measured."""

    passed: bool = True
    seconds: float = 0.0
    back: float | None = None

    def met(self, fault: Fault) -> bool:
        """Whether the fault was met as the table says."""
        in_time = fault.most is None or (self.back is not None and self.back <= fault.most)
        return self.passed and in_time


def main() -> int:
    """Status 1 when one of them was not met as the table says."""
    results = ran([f"tests/{fault.test}" for fault in FAULTS])
    missing = Result(passed=False)
    lines = [ROW.format(*HEAD), *(row(one, results.get(key(one), missing)) for one in FAULTS)]
    met = sum(results.get(key(one), missing).met(one) for one in FAULTS)
    lines.append(f"{met} of {len(FAULTS)} as the table says")
    sys.stdout.write("\n".join(lines) + "\n")
    return met < len(FAULTS)


def row(fault: Fault, result: Result) -> str:
    """A line of the table."""
    was = "" if result.back is None else f"{result.back:.1f} s"
    said = ("yes" if result.met(fault) else "NO", f"{result.seconds:.1f}")
    return ROW.format(fault.what, fault.status, fault.degraded, fault.alert or "-", fault.back, was, *said)


def key(fault: Fault) -> tuple[str, str]:
    """A fault's test as the report names it: module and function."""
    file, _, test = fault.test.partition("::")
    return "tests." + file.removesuffix(".py").replace("/", "."), test


def ran(names: list[str]) -> dict[tuple[str, str], Result]:
    """What came of each test; the cases of one test count together."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        line = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *dict.fromkeys(names)]
        subprocess.run(line, cwd=ROOT, env=os.environ | {"RADRAG_TEST_FAULTS": "1"}, check=False)
        cases = list(ElementTree.parse(report).iter("testcase"))
    found: dict[tuple[str, str], Result] = {}
    for case in cases:
        name = (case.attrib["classname"], case.attrib["name"].partition("[")[0])
        one = found.setdefault(name, Result())
        one.passed = one.passed and all(part.tag == "properties" for part in case)
        one.seconds += float(case.attrib["time"])
        for noted in case.iter("property"):
            if noted.attrib["name"] == "recovered":
                one.back = max(one.back or 0.0, float(noted.attrib["value"]))
    return found


if __name__ == "__main__":
    sys.exit(main())
