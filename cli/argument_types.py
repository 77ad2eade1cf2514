"""What an argument must be, in words for whoever wrote another: seconds, counts, the version asked for."""

import argparse
import sys


def seconds(text: str) -> float:
    """A wait or a deadline: up to a day."""
    value = _number(text)
    if not 0 < value <= 86_400:
        raise argparse.ArgumentTypeError("must be above 0 and at most 86400")
    return value


def minute_or_more(text: str) -> float:
    """The time between two looks at other people's pages."""
    value = _number(text)
    if not value >= 60:
        raise argparse.ArgumentTypeError("must be at least 60")
    return value


def positive(text: str) -> int:
    """A count."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, not {text!r}") from None


class Version(argparse.Action):
    """Prints the version and ends; looked up only then, for a question must start at once."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from radrag.telemetry import version  # noqa: PLC0415

        sys.stdout.write(f"radrag {version()}\n")
        parser.exit()
