"""Writes what a curator does on the command line to the audit trail, in a chain of its own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from cli import places
from radrag import account, call
from radrag.account import Account
from radrag.audit import opening
from radrag.call import Call, Caller
from radrag.errors import RadragError
from radrag.settings import Settings


@contextmanager
def audited(method: str, subject: str, environ: Mapping[str, str]) -> Iterator[Account]:
    """One record for what is done in the block, whatever its end. Raises Unavailable when it must be kept.

    Commands that run at once wait for each other's record: they share a chain.
    """
    settings = Settings.from_environ(environ)
    wanted = opening.plan(settings, "cli", home=places.home(settings, environ), wait=True)
    with call.running(Call(Caller(subject))):
        told, code = account.enter(Account(f"radrag {method}")), account.OK
        try:
            yield told
        except RadragError as error:
            code = error.code.name
            raise
        except BaseException as error:
            code = type(error).__name__
            raise
        finally:
            with opening.opened(wanted, settings.audit) as told.trail:
                written = told.submit(code)
                failure = written.exception() if written else None
                if failure and told.trail.required:
                    raise failure
