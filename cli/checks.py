"""What must hold before the services can run here: one function per thing, none stops at the first fault."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.machine import Machine
from cli.ports import Port

GIB = 1024**3
# Measured for the cpu profile: model server with its processes, retrieval, gateway, one ingest beside them.
MEMORY = 4 * GIB
DISK = 2 * GIB
SHARED_MEMORY = GIB // 4
SHM = Path("/dev/shm")  # noqa: S108  the kernel's place; nothing of ours is put there by name
# What a module is for, by the extra that installs it.
MODULES = {
    "grpc_health": "serve",
    "prometheus_client": "serve",
    "opentelemetry": "serve",
    "tritonclient": "gateway",
    "qdrant_edge": "retrieval",
    "py_rust_stemmers": "retrieval",
    "docling": "ingest",
    "bs4": "ingest",
    "tokenizers": "ingest",
    "alembic": "ingest",
    "rich": "console",
}
# The converted files and the parameter of config.pbtxt that pins each.
PINNED = {
    "model.onnx": "weights_sha256",
    "tokenizer.json": "tokenizer_sha256",
    "limits.json": "limits_sha256",
}


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `cure` says what to do and is empty when all is well."""

    name: str
    detail: str
    cure: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing has to be done."""
        return not self.cure


def platform(machine: Machine) -> Finding:
    """The model server's CPU build exists for Linux on x86-64 only."""
    system, processor = machine.system()
    fits = system == "Linux" and processor in {"x86_64", "AMD64"}
    cure = (
        "run the services on Linux x86-64 (a virtual machine, WSL 2, or a container with "
        "--platform linux/amd64) and point RADRAG_GATEWAY_ADDRESS there: asking works from here"
    )
    return Finding("platform", f"{system} {processor}", "" if fits else cure)


def python(machine: Machine) -> Finding:
    """The model server's Python processes are built for 3.11."""
    major, minor = machine.python()
    cure = "use Python 3.11: make setup PYTHON=/path/to/python3.11"
    return Finding("python", f"{major}.{minor}", "" if (major, minor) == (3, 11) else cure)


def libpython(machine: Machine) -> Finding:
    """The model server's Python processes load libpython3.11."""
    there = machine.has_libpython()
    return Finding(
        "libpython", "found" if there else "not found", "" if there else "apt install libpython3.11"
    )


def packages(machine: Machine) -> Iterator[Finding]:
    """The libraries of each extra."""
    for module, extra in MODULES.items():
        if not machine.installed(module):
            yield Finding(
                f"package {module}", "not installed", f"make setup, or pip install 'radrag[{extra}]'"
            )


def models_environment(machine: Machine, server: Path) -> Finding:
    """The model server's own environment."""
    there = machine.exists(server)
    detail = f"{server} {'is there' if there else 'is missing'}"
    return Finding("model server", detail, "" if there else "make setup")


def weights(machine: Machine, model: Path) -> Iterator[Finding]:
    """The converted weights of an embedder, by the hashes its config.pbtxt pins."""
    try:
        pins = pinned(model / "config.pbtxt")
    except OSError:
        yield Finding("weights", f"{model / 'config.pbtxt'} is missing", "check out the repository again")
        return
    for name, parameter in PINNED.items():
        found = machine.sha256(model / "1" / name)
        if found != pins.get(parameter, found):
            detail = "differs from its pinned sha256" if found else "is missing"
            yield Finding(f"weights {name}", f"{model / '1' / name} {detail}", "make setup")


def pinned(config: Path) -> dict[str, str]:
    """The parameters of a config.pbtxt. Raises OSError when it cannot be read."""
    pattern = r'key:\s*"(\w+)"\s*value:\s*\{\s*string_value:\s*"([^"]*)"'
    return dict(re.findall(pattern, config.read_text()))


def free_ports(machine: Machine, ports: Iterable[Port]) -> Iterator[Finding]:
    """Every port that something else listens on, and who that is."""
    for port in ports:
        if not machine.free(port):
            by = machine.holder(port.number)
            yield Finding(
                f"port {port.number}",
                f"{port.purpose}: taken by {by}",
                "stop that process, or set another address (RADRAG_*_ADDRESS, RADRAG_*_URL)",
            )


def memory(machine: Machine) -> Finding:
    """Memory for the model server and the services."""
    return _size("memory", machine.memory(), MEMORY, "available", "stop other programs or add memory")


def disk(machine: Machine, home: Path) -> Finding:
    """Disk for the index and the logs."""
    return _size(
        "disk", machine.disk(home), DISK, f"free for {home}", "free some space or set RADRAG_HOME elsewhere"
    )


def shared_memory(machine: Machine) -> Finding:
    """The model server talks to its Python processes through /dev/shm."""
    if not machine.exists(SHM):
        return Finding(str(SHM), "missing", f"mount it: mount -t tmpfs tmpfs {SHM}")
    cure = f"enlarge it: mount -o remount,size=1g {SHM}, or --shm-size=1g for a container"
    return _size(str(SHM), machine.disk(SHM), SHARED_MEMORY, "free", cure)


def home(machine: Machine, folder: Path) -> Finding:
    """The folder of run-time state can be written."""
    good = machine.writable(folder)
    return Finding(
        "home",
        f"{folder}" if good else f"{folder} is not writable",
        "" if good else "set RADRAG_HOME to a folder of yours",
    )


def font(machine: Machine, path: Path) -> Finding:
    """The sample PDFs are set in DejaVu, which has Cyrillic."""
    there = machine.exists(path)
    return Finding("font", f"{path}" if there else "not found", "" if there else "apt install fonts-dejavu")


def tesseract(machine: Machine, languages: Sequence[str]) -> Finding:
    """Scanned pages are read by Tesseract, in the languages of the settings."""
    have = machine.ocr_languages()
    missing = [f"tesseract-ocr-{one}" for one in languages if one not in have]
    if not have:
        missing.insert(0, "tesseract-ocr")
    detail = f"reads {', '.join(sorted(have))}" if have else "not found"
    return Finding("tesseract", detail, f"apt install {' '.join(missing)}" if missing else "")


def _size(name: str, have: int, need: int, what: str, cure: str) -> Finding:
    detail = f"{have / GIB:.1f} GiB {what}, {need / GIB:.2g} GiB needed"
    return Finding(name, detail, "" if have >= need else cure)


def faults(findings: Sequence[Finding]) -> list[Finding]:
    """Those that need a cure."""
    return [finding for finding in findings if not finding.good]
