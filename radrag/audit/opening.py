"""Opens the audit trail as the settings want it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from radrag import telemetry
from radrag.account import Trail
from radrag.audit.journal import SYNCS, Journal, Plan
from radrag.settings import SettingError

MODES = ("off", "on", "required")
FOLDER = "audit"  # below the home


class Wanted(Protocol):
    """The settings this reads; see radrag.settings for what they mean."""

    @property
    def home(self) -> Path:
        """Where run-time state lies."""

    @property
    def audit(self) -> str:
        """One of MODES."""

    @property
    def audit_sync(self) -> str:
        """One of SYNCS."""

    @property
    def audit_heads(self) -> Path:
        """Folder of the signed heads."""

    @property
    def audit_key_file(self) -> Path:
        """The key that signs them."""

    @property
    def audit_head_every(self) -> int:
        """Records between two of them."""

    @property
    def audit_content(self) -> bool:
        """Whether texts are kept."""


log = telemetry.logs.get(__name__)


def plan(settings: Wanted, process: str, *, home: Path | None = None, wait: bool = False) -> Plan:
    """Where this process's chain is, below `home`, and how it is kept. Raises SettingError."""
    home = (home or settings.home).absolute()
    if settings.audit not in MODES:
        raise SettingError(f"RADRAG_AUDIT must be one of {', '.join(MODES)}")
    if settings.audit_sync not in SYNCS:
        raise SettingError(f"RADRAG_AUDIT_SYNC must be one of {', '.join(SYNCS)}")
    if settings.audit_head_every < 1:
        raise SettingError("RADRAG_AUDIT_HEAD_EVERY must be 1 or more")
    return Plan(
        home / FOLDER,
        below(home, settings.audit_heads),
        below(home, settings.audit_key_file),
        process,
        settings.audit_sync,
        settings.audit_head_every,
        settings.audit_content,
        wait,
    )


def below(home: Path, path: Path) -> Path:
    """A path of the settings: one that is still the default, below `var`, goes with the home."""
    parts = path.parts
    return (home / Path(*parts[1:])).absolute() if parts[:1] == ("var",) else path.absolute()


@contextmanager
def opened(wanted: Plan, mode: str) -> Iterator[Trail]:
    """The trail of a process, closed with the block. Raises SettingError when it cannot be opened.

    A chain whose end cannot be read is not continued: what happened to it must be looked into first.
    """
    if mode == "off":
        yield Trail()
        return
    try:
        journal = Journal(wanted)
    except (OSError, ValueError, KeyError) as error:
        what, where = f"{type(error).__name__}: {error}", wanted.folder / wanted.process
        raise SettingError(f"the audit trail in {where} cannot be opened: {what}") from None
    if journal.torn:
        log.warning("the audit trail ended in an unfinished record, which was taken off")
    try:
        yield Trail(journal, mode == "required")
    finally:
        journal.close()
