"""Two workers' servers never meet at one port, nor a server and somebody's client."""

from itertools import pairwise
from pathlib import Path

from cli.health import HEALTH_ABOVE
from cli.services import METRICS_ABOVE
from tests.ports import APART, HEALTH, METRICS, WORKERS, free_grpc_port, free_port, own_range

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def every_port(worker: str) -> set[int]:
    return {port + beside for port in own_range(worker) for beside in (-1, 0, 1, HEALTH, METRICS)}


def test_no_two_workers_share_a_port() -> None:
    workers = ["", *(f"gw{n}" for n in range(WORKERS - 1))]
    ranges = [every_port(worker) for worker in workers]
    assert len(set.union(*ranges)) == sum(map(len, ranges))


def test_they_are_below_those_of_clients() -> None:
    lowest = int(RANGE.read_text().split()[0])
    assert max(every_port("")) < lowest


def test_a_port_is_not_given_again_before_its_server_listens() -> None:
    given = [get() for _ in range(50) for get in (free_port, free_grpc_port)]
    assert all(abs(one - other) >= APART for one, other in pairwise(given))
    assert len(set(given)) == len(given)


def test_what_is_kept_free_above_is_what_a_service_takes() -> None:
    assert (HEALTH, METRICS) == (HEALTH_ABOVE, METRICS_ABOVE)
