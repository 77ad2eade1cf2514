"""What the audit trail keeps of an answer: outcome, documents, the manifest's hash; texts as keyed hashes."""

import hashlib
from collections.abc import Iterable

from gateway.answer import Finish, Outcome
from gateway.questions import Question
from radrag import account
from radrag.assistant.v1 import assistant_pb2 as wire


def asked(question: Question) -> None:
    """Notes the question, so that a call that fails has it too."""
    account.current().text("question", question.text)


def found(outcome: Outcome, manifest: wire.Manifest) -> None:
    """Notes the evidence that was shown."""
    _note(outcome.name, manifest.document_versions, manifest)


def answered(finish: Finish, text: str, manifest: wire.Manifest) -> None:
    """Notes an answer and the documents it cites."""
    documents = (one.passage.document for one in finish.citations)
    outcome = "FAILED" if finish.error else finish.outcome.name
    account.current().failure = finish.error
    account.current().text("answer", text)
    _note(outcome, (f"{one.document_id}@{one.version}" for one in documents), manifest)


def _note(outcome: str, documents: Iterable[str], manifest: wire.Manifest) -> None:
    digest = hashlib.sha256(manifest.SerializeToString(deterministic=True)).hexdigest()
    account.current().note(outcome, documents, manifest_sha256=digest)
