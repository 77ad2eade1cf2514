"""A DNS server for tests: one name, whose addresses change while it is asked."""

import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Names:
    """Answers every A question with `addresses`, every other with nothing. `asked` counts the A questions."""

    port: int
    addresses: Sequence[str]
    asked: int = field(default=0)

    def target(self, port: int) -> str:
        """What a gRPC client dials to resolve a name here."""
        return f"dns://127.0.0.1:{self.port}/models.test:{port}"

    def reply(self, request: bytes) -> bytes:
        """RFC 1035: the question again, and an A record per address with a life of a second."""
        end = request.index(b"\0", 12) + 5
        is_a = request[end - 4 : end - 2] == b"\0\x01"
        self.asked += is_a
        answers = [
            b"\xc0\x0c\0\x01\0\x01" + struct.pack(">IH", 1, 4) + socket.inet_aton(one)
            for one in (self.addresses if is_a else [])
        ]
        head = request[:2] + b"\x85\x80\0\x01" + struct.pack(">HHH", len(answers), 0, 0)
        return head + request[12:end] + b"".join(answers)


@contextmanager
def names(*addresses: str) -> Iterator[Names]:
    """A server on this machine until the block ends."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.bind(("127.0.0.1", 0))
        channel.settimeout(0.2)
        served, stopped = Names(channel.getsockname()[1], addresses), threading.Event()
        thread = threading.Thread(target=_serve, args=(channel, served, stopped))
        thread.start()
        try:
            yield served
        finally:
            stopped.set()
            thread.join()


def _serve(channel: socket.socket, served: Names, stopped: threading.Event) -> None:
    while not stopped.is_set():
        try:
            request, sender = channel.recvfrom(512)
        except TimeoutError:
            continue
        channel.sendto(served.reply(request), sender)
