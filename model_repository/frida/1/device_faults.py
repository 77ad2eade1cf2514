"""What a failed forward pass means for the next one: it was too large, or a bug, or the device is lost.

After an illegal memory access, a failed assertion in a kernel or an uncorrectable memory error every later
call on the device fails in this process: to go on is to fail everybody, slowly. Only a new process helps.
"""

import torch
from failures import DeviceLost, cause, noted


class Faults:
    """Judges the failures of the passes on one device."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def judge(self, error: Exception, rows: int) -> None:
        """Logs why a pass of so many rows failed. Raises DeviceLost where no other can succeed."""
        if not self.answers():
            raise DeviceLost(cause(error)) from None
        noted(error, rows)
        if isinstance(error, torch.OutOfMemoryError) and self.device.type == "cuda":
            # What is free in pieces may be enough in one.
            torch.cuda.empty_cache()

    def answers(self) -> bool:
        """Whether the device still computes. Memory that is full is no fault of it."""
        try:
            return float(torch.ones(1, device=self.device).add(1).cpu()) == 2
        except torch.OutOfMemoryError:
            return True
        except RuntimeError:
            return False
