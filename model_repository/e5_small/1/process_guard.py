"""Ends the server when this model's process has died: Triton 2.51 goes on calling such a model READY.

Seen with a process killed in a request and between requests, decoupled or not: every later request fails
after a second with "Stub process is not healthy", readiness and liveness stay true, and no new process is
started. So a shell outside reads a pipe that the process holds: the kernel closes it, whatever ends it.
"""

import os
import subprocess

WATCH = """
trap '' INT TERM
read -r said
[ "$said" = finished ] && exit
grep -q '^tritonserver' "/proc/$1/comm" 2>/dev/null || exit 0
echo "$2: its process has died. Triton is told to end, so that it is started anew" >&2
kill -TERM "$1"
"""


class ProcessGuard:
    """Watches from its making until `dismiss`.

    It is made last in `initialize`: a model that does not load harms no other.
    """

    def __init__(self, model: str) -> None:
        command = ["/bin/sh", "-c", WATCH, "process-guard", str(os.getppid()), model]
        self._shell = subprocess.Popen(command, stdin=subprocess.PIPE)

    def dismiss(self) -> None:
        """The process is about to end as it should."""
        self._shell.communicate(b"finished\n")
