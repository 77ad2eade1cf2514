"""config.pbtxt's parameters as numbers and choices: a wrong one is refused by its name."""

from collections.abc import Collection, Mapping

from weights_manifest import Refused


class WrongSetting(Refused):
    """A parameter of config.pbtxt that no model can run with."""


def whole(settings: Mapping[str, str], name: str, least: int = 1) -> int:
    """Raises WrongSetting for what is no whole number of at least `least`."""
    value = settings.get(name, "")
    if not (value.isascii() and value.isdecimal() and int(value) >= least):
        raise WrongSetting(f"{name} is {value!r}: it must be a whole number of at least {least}")
    return int(value)


def share(settings: Mapping[str, str], name: str) -> float:
    """0 to 1. Raises WrongSetting."""
    try:
        value = float(settings.get(name, ""))
    except ValueError:
        value = float("nan")
    if not 0 <= value <= 1:
        raise WrongSetting(f"{name} is {settings.get(name)!r}: it must be a number from 0 to 1")
    return value


def choice(settings: Mapping[str, str], name: str, known: Collection[str]) -> str:
    """Raises WrongSetting, with what is known."""
    value = settings.get(name, "")
    if value not in known:
        raise WrongSetting(f"{name} is {value!r}, known are {', '.join(known)}")
    return value
