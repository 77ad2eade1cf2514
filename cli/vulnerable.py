"""Asks OSV whether a version of the lock has a known vulnerability.

Run: python -m cli.vulnerable requirements.lock

One request with all of them. Status 1 when something is found that ACCEPTED does not name; where there is no
route to OSV that is said and is no failure: the check must not keep a closed network from building.
"""

import http
import http.client
import json
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path

URL = "https://api.osv.dev/v1/querybatch"
SECONDS, MOST_BYTES = 20.0, 10_000_000
# Ids that were looked at and do not concern us, each with its reason.
ACCEPTED: Mapping[str, str] = {}


class NoRoute(Exception):
    """Nobody could be asked."""


def pinned(lock: str) -> list[tuple[str, str]]:
    """Name and version of each line. Raises ValueError for a line that is neither a pin nor a comment."""
    lines = [line for line in lock.splitlines() if line.strip() and not line.startswith("#")]
    found = [line.partition("==") for line in lines]
    if odd := [line for line, (_, same, version) in zip(lines, found, strict=True) if not (same and version)]:
        raise ValueError(f"no pin: {odd[0]}")
    return [(name, version) for name, _, version in found]


def known(pins: Iterable[tuple[str, str]], url: str = URL) -> dict[str, list[str]]:
    """Ids of vulnerabilities by `name==version`. Raises NoRoute, and ValueError for another form of reply."""
    asked = list(pins)
    queries = [
        {"package": {"ecosystem": "PyPI", "name": name}, "version": version} for name, version in asked
    ]
    results = _asked(url, {"queries": queries}).get("results")
    if not isinstance(results, list) or len(results) != len(asked):
        raise ValueError("OSV answered in another form than its documentation's")
    ids = ([one["id"] for one in result.get("vulns", [])] for result in results)
    return {f"{name}=={version}": found for (name, version), found in zip(asked, ids, strict=True) if found}


def _asked(url: str, body: object) -> dict[str, object]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310  our own address
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as reply:  # noqa: S310
            said: dict[str, object] = json.loads(reply.read(MOST_BYTES))
    except urllib.error.HTTPError as error:
        if error.code < http.HTTPStatus.INTERNAL_SERVER_ERROR:  # our question is wrong: no all clear
            raise ValueError(f"OSV answered {error.code}") from None
        raise NoRoute(str(error)) from None
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise NoRoute(str(getattr(error, "reason", error))) from None
    return said


def main(lock: Path, url: str = URL) -> int:
    """Prints what was found."""
    pins = pinned(lock.read_text(encoding="utf-8"))
    try:
        found = known(pins, url)
    except NoRoute as error:
        print(f"known vulnerabilities: skipped, no route to {url} ({error})")
        return 0
    open_ = {pin: left for pin, ids in found.items() if (left := [one for one in ids if one not in ACCEPTED])}
    print(*(f"{pin}: {', '.join(ids)}" for pin, ids in open_.items()), sep="\n", end="\n" if open_ else "")
    print(f"known vulnerabilities: {len(open_)} of {len(pins)} packages, {len(ACCEPTED)} ids accepted")
    return bool(open_)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
