"""Every command's arguments, in one place. Which module runs a command is its `module` default.

The modules are imported by `cli.__main__` when they are needed, so that asking a question stays quick.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from cli import kb_arguments, models_arguments
from cli.argument_types import Version, positive, seconds

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

EXITS = """exit status:
  0 done, or answered          5 a part is unavailable
  1 failed                     6 the deadline passed
  2 wrong arguments            7 overloaded, try later
  3 insufficient evidence      8 not allowed
  4 out of scope               9 not found     10 does not fit the service's state"""


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="radrag",
        description="Cited answers for radiologists from an approved knowledge base.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=Version, nargs=0, help="print the version and end")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _services(commands)
    _doctor(commands)
    _questions(commands)
    _replay(commands)
    _mcp(commands)
    _ingest(commands)
    kb_arguments.add(commands)
    models_arguments.add(commands)
    _bundle(commands)
    _audit(commands)
    _backup(commands)
    _key(commands)
    _evaluation(commands)
    _demo(commands)
    return top


def parsed(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments of one command line. Exits with status 2 and a usage line when they are wrong."""
    if words and words[0] == "eval":  # has a grammar of its own, which `cli.evaluate` knows
        return argparse.Namespace(command="eval", module="cli.evaluate", words=list(words[1:]))
    return parser().parse_args(words)


def _add(commands: Commands, name: str, module: str, text: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text[:1].upper() + text[1:] + ".")
    command.set_defaults(module=module)
    return command


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")


def _services(commands: Commands) -> None:
    up = _add(commands, "up", "cli.up", "start the model server and the services")
    up.add_argument("--timeout", type=seconds, default=180.0, metavar="SECONDS", help="longest wait (180)")
    up.add_argument(
        "--insecure-dev", action="store_true", help="let everybody on this machine in (RADRAG_INSECURE_DEV)"
    )
    down = _add(commands, "down", "cli.down", "stop what `up` started")
    down.add_argument("--timeout", type=seconds, default=20.0, metavar="SECONDS", help="before killing (20)")
    top = _add(commands, "top", "cli.top", "watch rates, stages, queues and errors, from /metrics")
    top.add_argument("--once", action="store_true", help="print once, since the processes started")
    top.add_argument("--every", type=seconds, default=2.0, metavar="SECONDS", help="between two looks (2)")
    _json(top)
    _json(_add(commands, "status", "cli.status", "show processes, models and the index"))


def _doctor(commands: Commands) -> None:
    _json(_add(commands, "doctor", "cli.doctor", "name everything this machine lacks"))


def _questions(commands: Commands) -> None:
    ask = _question(commands, "ask", "answer a question, with sources")
    way = ask.add_mutually_exclusive_group()
    way.add_argument("--stream", action="store_true", default=None, help="as it is written (on a terminal)")
    way.add_argument("--no-stream", action="store_false", dest="stream", help="whole answer at once")
    ask.add_argument("--max-tokens", type=positive, metavar="N", help="longest answer in tokens")
    _question(commands, "search", "find the evidence for a question")
    _question(commands, "prompt", "print the prompt a generator would get")


def _replay(commands: Commands) -> None:
    replay = _add(
        commands, "replay", "cli.replay", "ask a saved reply's question again and show what changed"
    )
    replay.add_argument("file", type=Path, metavar="FILE", help="what `ask --json` printed")
    replay.add_argument("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="deadline (60)")
    replay.add_argument("--address", metavar="HOST:PORT", help="the gateway (RADRAG_GATEWAY_ADDRESS)")
    _json(replay)


def _mcp(commands: Commands) -> None:
    mcp = _add(commands, "mcp", "cli.mcp_server", "serve search and ask as tools to an assistant, over stdio")
    mcp.add_argument("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="deadline (60)")
    mcp.add_argument("--address", metavar="HOST:PORT", help="the gateway (RADRAG_GATEWAY_ADDRESS)")


def _question(commands: Commands, name: str, text: str) -> argparse.ArgumentParser:
    command = _add(commands, name, "cli.question", text)
    command.add_argument("question", help="the question; - reads it from standard input")
    for option, metavar, what in (
        ("--topic", "TOPIC", "only this topic"),
        ("--language", "CODE", "only sources in this language: en, ru"),
        ("--category", "CATEGORY", "only this category of sources"),
        ("--document", "ID", "only this document"),
    ):
        command.add_argument(option, action="append", default=[], metavar=metavar, help=f"{what}; repeatable")
    command.add_argument("--as-of", metavar="YYYY-MM-DD", help="sources in force on this day")
    command.add_argument("--sources", type=positive, metavar="N", help="at most this many sources")
    command.add_argument("--stages", action="store_true", help="show where the time went")
    command.add_argument("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="deadline (60)")
    command.add_argument("--address", metavar="HOST:PORT", help="the gateway (RADRAG_GATEWAY_ADDRESS)")
    _json(command)
    return command


def _ingest(commands: Commands) -> None:
    ingest = _add(commands, "ingest", "cli.ingest", "read documents into the knowledge base")
    ingest.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files")
    ingest.add_argument("--topic", default="", help="topic of documents the manifest does not name")
    ingest.add_argument(
        "--manifest",
        type=Path,
        metavar="FILE",
        help="YAML with each document's metadata; names the files too",
    )
    ingest.add_argument("--root", type=Path, metavar="FOLDER", help="where the manifest's files are")
    ingest.add_argument("--approve", action="store_true", help="approve and publish what was read")
    ingest.add_argument(
        "--ray", default="", metavar="ADDRESS", help="Ray cluster that parses: ray://HOST:10001"
    )
    _json(ingest)


def _bundle(commands: Commands) -> None:
    bundle = commands.add_parser("bundle", help="collect, check and install RadRAG for a closed network")
    actions = bundle.add_subparsers(dest="action", required=True, metavar="ACTION")
    create = _add(actions, "create", "cli.bundle", "collect packages, weights, OCR data, chart and project")
    create.add_argument("folder", type=Path, metavar="FOLDER", help="the folder to make")
    create.add_argument(
        "--model", action="append", default=[], metavar="MODEL", help="weights to take along; repeatable"
    )
    verify = _add(actions, "verify", "cli.bundle", "name every file that is missing, added or another")
    install = _add(actions, "install", "cli.bundle", "install into an empty folder, without a network")
    for one in (verify, install):
        one.add_argument("bundle", type=Path, metavar="FOLDER", help="the bundle")
    install.add_argument("prefix", type=Path, metavar="PREFIX", help="the empty folder")


def _audit(commands: Commands) -> None:
    audit = commands.add_parser("audit", help="check the audit trail")
    verify = _add(
        audit.add_subparsers(dest="action", required=True, metavar="ACTION"),
        "verify",
        "cli.audit",
        "find every record that was changed, removed, moved or cut off",
    )
    verify.add_argument("--folder", type=Path, metavar="FOLDER", help="the chains (audit, in the home)")
    verify.add_argument(
        "--heads",
        type=Path,
        metavar="FOLDER",
        help="the signed heads (RADRAG_AUDIT_HEADS); a copy kept elsewhere shows what was cut with them",
    )
    verify.add_argument("--key", type=Path, metavar="PEM", help="the public key (public.pem with the heads)")
    _json(verify)


def _backup(commands: Commands) -> None:
    backup = commands.add_parser("backup", help="keep catalogue, index and audit trail in one file")
    actions = backup.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("create", "write a backup and read it back"),
        ("verify", "read a backup back, open its databases, check its audit trail"),
        ("restore", "put a backup into an empty home"),
    ):
        command = _add(actions, name, "cli.backup", text)
        command.add_argument("file", type=Path, metavar="FILE", help="the backup")
        _json(command)


def _key(commands: Commands) -> None:
    key = _add(commands, "key", "cli.key", "make an API key; only its hash is kept")
    key.add_argument("name", metavar="NAME", help="the key's id: a-z, 0-9, -")
    key.add_argument("--subject", metavar="NAME", help="who calls with it, for logs and audit (NAME)")
    for option, what in (
        ("--role", "reader (the default), curator, admin, service; repeatable"),
        ("--topic", "only this topic; repeatable"),
        ("--label", "documents with this label too; repeatable"),
    ):
        key.add_argument(option, action="append", default=[], help=what)
    key.add_argument("--expires", metavar="YYYY-MM-DD", help="the first day on which it opens nothing")
    key.add_argument("--file", metavar="FILE", help="the file of callers (RADRAG_CALLERS_FILE)")


def _evaluation(commands: Commands) -> None:
    commands.add_parser("eval", help="measure how good it is")


def _demo(commands: Commands) -> None:
    demo = _add(commands, "demo", "cli.demo", "run it all once, on the sample knowledge base")
    demo.add_argument("--samples", type=Path, default=Path("var/samples"), help="the built samples")
