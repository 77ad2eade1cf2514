"""The arguments of `radrag models …`: weights, from a hub or a mirror to a closed network."""

import argparse
from pathlib import Path
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add(commands: Commands) -> None:
    """Adds `models` with its actions."""
    models = commands.add_parser("models", help="fetch, check and bundle model weights")
    actions = models.add_subparsers(dest="action", required=True, metavar="ACTION")
    _fetch(_add(actions, "fetch", "fetch the weights of a model, or take up what a download left"))
    verify = _add(actions, "verify", "name every file that is missing, truncated or another")
    verify.add_argument("what", nargs="*", metavar="WHAT", help="models, folders or bundles (all models)")
    bundle = _add(actions, "bundle", "write a model's weights to one file for a closed network")
    bundle.add_argument("model", metavar="MODEL", help="the model, or a folder with a manifest.json")
    bundle.add_argument("file", type=Path, metavar="FILE.tar", help="the bundle to write")


def _add(commands: Commands, name: str, text: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text[:1].upper() + text[1:] + ".")
    command.set_defaults(module=f"cli.models_{name}")
    command.add_argument("--folder", type=Path, metavar="FOLDER", help="where weights live (RADRAG_MODELS)")
    return command


def _fetch(fetch: argparse.ArgumentParser) -> None:
    fetch.add_argument("model", metavar="MODEL", help="the folder's name: frida, qwen3_reranker, gguf, …")
    fetch.add_argument(
        "source", nargs="?", default="", metavar="SOURCE",
        help="a bundle, a folder or a mirror's URL, each with a manifest.json; a hub when left out",
    )  # fmt: skip
    fetch.add_argument("--repo", default="", metavar="OWNER/NAME", help="the repository on the hub")
    fetch.add_argument("--revision", default="main", help="branch, tag or commit (main)")
    fetch.add_argument("--hub", default="https://huggingface.co", metavar="URL", help="the hub or its mirror")
    fetch.add_argument(
        "--include", action="append", default=[], metavar="PATTERN",
        help="only files like *.json; repeatable; of known models what they need",
    )  # fmt: skip
    fetch.add_argument("--token-file", type=Path, metavar="FILE", help="file with the hub's access token")
