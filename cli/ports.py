"""Which TCP ports are free, and who holds one that is not."""

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LISTENING = "0A"  # the state column of /proc/net/tcp


@dataclass(frozen=True)
class Port:
    """A port some process of ours needs, and what for."""

    host: str
    number: int
    purpose: str


def split(address: str) -> tuple[str, int]:
    """host and port of host:port. Raises ValueError naming the address."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 <= int(port) <= 65_535:
        raise ValueError(f"{address!r} is not host:port")
    return host, int(port)


def each(address: str) -> list[str]:
    """The addresses of a list as gRPC takes it, `ipv4:HOST:PORT,HOST:PORT`; a single one as it is."""
    return address.removeprefix("ipv4:").removeprefix("dns:///").split(",")


def free(port: Port) -> bool:
    """Whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in port.host else socket.AF_INET
    with socket.socket(family) as probe:
        # As servers do: a port in TIME_WAIT is free, one with a listener is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((port.host.strip("[]"), port.number))
            probe.listen(1)
        except OSError:
            return False
    return True


def taken(ports: Iterable[Port]) -> list[Port]:
    """Those that are not free."""
    return [port for port in ports if not free(port)]


def holder(number: int) -> str:
    """`pid 4711 (nginx)` for the listener on a port; a plain word when it is not ours to see."""
    inodes = _listening_inodes(number)
    for process in Path("/proc").glob("[0-9]*"):
        if inodes & _socket_inodes(process):
            return f"pid {process.name} ({_name(process)})"
    return "another process"


def _listening_inodes(number: int) -> set[str]:
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in _lines(Path(table))[1:]:
            columns = line.split()
            if int(columns[1].rpartition(":")[2], 16) == number and columns[3] == LISTENING:
                found.add(f"socket:[{columns[9]}]")
    return found


def _socket_inodes(process: Path) -> set[str]:
    found = set()
    try:
        for handle in (process / "fd").iterdir():
            found.add(str(handle.readlink()))
    except OSError:  # it ended, or belongs to somebody else
        pass
    return found


def _name(process: Path) -> str:
    return "".join(_lines(process / "comm")) or "?"


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
