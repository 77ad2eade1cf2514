"""How busy the device was meanwhile, by NVIDIA's own program; unknown where that is not."""

import shutil
import subprocess
from statistics import fmean
from types import TracebackType

COMMAND = [
    "nvidia-smi",
    "--query-gpu=utilization.gpu",
    "--format=csv,noheader,nounits",
    "--loop-ms=100",
    "-i",
    "0",
]


class Busy:
    """`share` after the block: 0 to 1, None where nobody could say."""

    share: float | None = None

    def __enter__(self) -> "Busy":
        known = shutil.which(COMMAND[0])
        self._watch = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) if known else None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watch:
            self._watch.terminate()
            seen, _ = self._watch.communicate()
            self.share = mean(seen)


def mean(lines: str) -> float | None:
    """Of percents, one a line."""
    values = [float(line) for line in lines.split("\n") if line.strip().isdecimal()]
    return fmean(values) / 100 if values else None
