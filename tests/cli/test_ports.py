"""Who listens where, on real sockets."""

import os
import socket

import pytest

from cli import ports
from cli.ports import Port


def listener() -> socket.socket:
    server = socket.create_server(("127.0.0.1", 0))
    server.listen()
    return server


def test_a_port_with_a_listener_is_taken_and_its_holder_is_named() -> None:
    with listener() as server:
        number = server.getsockname()[1]
        assert ports.taken([Port("127.0.0.1", number, "gateway")]) == [Port("127.0.0.1", number, "gateway")]
        assert ports.holder(number).startswith(f"pid {os.getpid()} (")
    assert ports.free(Port("127.0.0.1", number, "gateway"))


def test_nobody_we_can_see_is_another_process() -> None:
    with listener() as server:
        number = server.getsockname()[1]
    assert ports.holder(number) == "another process"


@pytest.mark.parametrize("address", ["", "localhost", ":50051", "localhost:", "localhost:http", "h:70000"])
def test_an_address_that_is_none_is_named(address: str) -> None:
    with pytest.raises(ValueError, match="is not host:port"):
        ports.split(address)


def test_an_address_is_split_at_its_last_colon() -> None:
    assert ports.split("127.0.0.1:50051") == ("127.0.0.1", 50051)
    assert ports.split("[::1]:50051") == ("[::1]", 50051)


def test_a_list_of_replicas_is_read_one_by_one() -> None:
    assert ports.each("ipv4:10.0.0.1:8001,10.0.0.2:8001") == ["10.0.0.1:8001", "10.0.0.2:8001"]
    assert ports.each("127.0.0.1:8001") == ["127.0.0.1:8001"]
