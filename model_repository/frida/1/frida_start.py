"""What of FRIDA's start needs PyTorch: the embedder of a verified folder, with its known answers right."""

from collections.abc import Mapping
from pathlib import Path

import frida_golden
from frida_embedder import Embedder, Pooling
from frida_encoder import WINDOW, FridaEncoder
from frida_tokens import PREFIXES
from local_model import CannotLoad, Place
from model_settings import WrongSetting, choice, share, whole
from token_windows import OVERLAP


def started_embedder(folder: Path, settings: Mapping[str, str], gpu: int) -> Embedder:
    """settings: config.pbtxt's parameters. Raises Refused."""
    place = Place(settings["device"], settings["precision"], gpu)
    window, budget = whole(settings, "window"), whole(settings, "pass_tokens")
    encoder = FridaEncoder.load(folder, place, window, budget)
    require_window(encoder)
    require_published(settings, encoder.dimension)
    pooling = Pooling(choice(settings, "pooling", list(Pooling)))
    embedder = Embedder(encoder, pooling, share(settings, "alpha"))
    frida_golden.check(embedder, folder / "golden.json", place.precision)
    return embedder


def require_window(encoder: FridaEncoder) -> None:
    """Beyond the trained length nobody knows what a vector is worth; too short, windows cannot overlap."""
    frames = [encoder.tokenizer.tokens("a", prefix).prefix for prefix in PREFIXES.values()]
    least = max(len(encoder.tokenizer.row(prefix, ())) for prefix in frames) + OVERLAP + 1
    if not least <= encoder.window <= WINDOW:
        raise WrongSetting(f"window is {encoder.window}: it must be {least} to {WINDOW}")


def require_published(settings: Mapping[str, str], dimension: int) -> None:
    """What config.pbtxt says of the model must be so: indexes are compared by it."""
    true = {f"prefix_{task}": prefix for task, prefix in PREFIXES.items()} | {"dimension": str(dimension)}
    for key, value in true.items():
        if settings.get(key) != value:
            raise CannotLoad(f"config.pbtxt says {key} is {settings.get(key)!r}, the model has {value!r}")
