"""The rooms of the house: who may import whom. A failure here is a design question."""

import ast
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ["gateway", "retrieval", "ingest", "evaluation", "benchmarks", "cli", "radrag"]
MAY_USE: dict[str, set[str]] = {
    "gateway": {"radrag"},
    "retrieval": {"radrag"},
    "ingest": {"radrag"},
    "evaluation": {"radrag"},
    "benchmarks": {"gateway", "retrieval", "ingest", "evaluation", "cli", "radrag"},
    "cli": {"gateway", "retrieval", "ingest", "evaluation", "benchmarks", "radrag"},
    "radrag": set(),
}
ONLY_HERE: dict[str, str | tuple[str, ...]] = {
    "opentelemetry": "radrag/telemetry/",
    "prometheus_client": "radrag/telemetry/",
    "structlog": "radrag/telemetry/",
    "tritonclient": "radrag/triton/",
    "qdrant_client": ("retrieval/server_", "benchmarks/peer_"),  # and who is measured beside us
    "qdrant_edge": "retrieval/edge_",  # the store, and its terms
    "docling": "ingest/docling/",  # a folder
    "docling_core": "ingest/docling/",
    "ray": "ingest/cluster.py",
}
# Where a library's module and its distribution are called differently.
DISTRIBUTIONS = {
    "google": "protobuf",
    "grpc": "grpcio",
    "grpc_health": "grpcio_health_checking",
    "grpc_reflection": "grpcio_reflection",
    "grpc_status": "grpcio_status",
    "jwt": "pyjwt",
    "opentelemetry": "opentelemetry_sdk",
    "qdrant_edge": "qdrant_edge_py",
    "bs4": "beautifulsoup4",
    "PIL": "pillow",
    "yaml": "pyyaml",
    "markdown_it": "markdown_it_py",
    "docling": "docling_slim",
    "docling_core": "docling_slim",
}
# weights_manifest lies in a model's folder: the model servers must do without any package of ours.
NOT_INSTALLED = {*ROOMS, *sys.stdlib_module_names, "samples", "weights_manifest"}
FORBIDDEN_NAMES = {"utils", "common", "helpers", "base", "types", "constants"}
MOST_LINES = 250
# The public SDK: its users are outside.
FOR_CALLERS = {"answer", "blocking", "client"}


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def sources(room: str) -> list[Path]:
    return [path for path in (ROOT / room).rglob("*.py") if "_pb2" not in path.name]


FILES = {path.relative_to(ROOT).as_posix(): imports(path) for room in ROOMS for path in sources(room)}


def test_rooms_use_only_what_they_may() -> None:
    for file, names in FILES.items():
        room = file.split("/")[0]
        used = {name.split(".")[0] for name in names} & set(ROOMS) - {room}
        assert used <= MAY_USE[room], f"{file} imports {used - MAY_USE[room]}"


def test_each_technology_has_one_door() -> None:
    for file, names in FILES.items():
        for library in {name.split(".")[0] for name in names} & ONLY_HERE.keys():
            assert file.startswith(ONLY_HERE[library]), f"{file} imports {library}"


def test_shared_modules_have_two_users() -> None:
    users = defaultdict(set)
    for file, names in FILES.items():
        for name in names:
            if name.startswith("radrag."):
                users[name.split(".")[1]].add(file.split("/")[0])
    for module in (ROOT / "radrag").glob("*.py"):
        if module.stem not in {"__init__", *FOR_CALLERS}:
            assert len(users[module.stem] - {"radrag"}) >= 2, f"{module.name}: move it to its user"


def test_only_the_error_table_names_status_codes() -> None:
    """One table from failure to status: elsewhere a failure is a class. Serving counts calls by code."""
    naming = {
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in sources(room)
        if "StatusCode." in path.read_text(encoding="utf-8")
    }
    assert naming <= {"radrag/errors.py", "radrag/serving/door.py", "radrag/telemetry/traces.py"}


def test_every_module_says_its_job_and_none_is_a_drawer() -> None:
    for file in FILES:
        assert ast.get_docstring(ast.parse((ROOT / file).read_text(encoding="utf-8"))), (
            f"{file}: no docstring"
        )
        assert not FORBIDDEN_NAMES & set(Path(file).with_suffix("").parts), f"{file}: name the job"


def test_no_module_is_too_long_to_be_held_in_mind() -> None:
    """Above it there is a second job, which wants a module and a name of its own."""
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for room in ROOMS
        for path in sources(room)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert not long


def test_only_starting_modules_read_the_environment() -> None:
    """Settings are read where a process starts; `cli` is where all its commands start."""
    for file, names in FILES.items():
        reads = names & {"os.environ", "os.getenv", "radrag.settings.Settings"}
        starts = file.startswith("cli/") or file.endswith("__main__.py") or file.startswith("benchmarks/")
        assert starts or not reads, f"{file} reads the environment"


def test_every_library_is_declared() -> None:
    """What the rooms import is named in pyproject.toml, so that no extra works by accident."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    declared = " ".join(lines).lower().replace("-", "_")
    missing = {
        (file, library)
        for file, names in FILES.items()
        if not file.startswith("benchmarks/gpu/")  # runs in the model servers' environment
        for library in {name.split(".")[0] for name in names} - NOT_INSTALLED
        if DISTRIBUTIONS.get(library, library) not in declared
    }
    assert not missing


def test_fixtures_run_their_loops_in_another_thread() -> None:
    """`tests.conftest.ran`: in this one a browser's loop may be running, and a second one is refused."""
    found = {
        f"{path.relative_to(ROOT)}: {top.name}"
        for path in (ROOT / "tests").rglob("*.py")
        for top in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(top, ast.FunctionDef) and not top.name.startswith("test_")
        for node in ast.walk(top)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "asyncio.run"
    }
    assert not found
