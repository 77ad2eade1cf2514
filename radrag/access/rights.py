"""Which role may call what: one table over every RPC. What is not in it is refused to everybody.

reader asks questions; curator looks after documents too; admin also deletes for good; service is a process of
ours. Which documents a call may touch is another matter: topics and labels of the caller decide.
"""

from collections.abc import Iterable, Mapping

from radrag.access.claims import ADMIN, CURATOR, READER, ROLES, SERVICE
from radrag.call import Call
from radrag.errors import PermissionDenied

ASSISTANT = "radrag.assistant.v1.AssistantService"
KNOWLEDGE = "radrag.knowledge.v1.KnowledgeService"
RETRIEVAL = "radrag.retrieval.v1.RetrievalService"
PEOPLE, CURATORS = {READER, CURATOR, ADMIN}, {CURATOR, ADMIN}


def _all(service: str, methods: str, roles: Iterable[str]) -> dict[str, frozenset[str]]:
    return {f"{service}/{method}": frozenset(roles) for method in methods.split()}


RIGHTS: Mapping[str, frozenset[str]] = {
    **_all(ASSISTANT, "Search Prompt Generate GenerateStream SubmitFeedback GetInfo", PEOPLE),
    **_all(KNOWLEDGE, "SubmitDocument ListDocuments GetDocument ReviewDocument PublishDocument", CURATORS),
    **_all(KNOWLEDGE, "RetireDocument RetryDocument WatchJob", CURATORS),
    **_all(KNOWLEDGE, "DeleteDocument", {ADMIN}),
    **_all(KNOWLEDGE, "RecordFeedback", {SERVICE}),
    **_all(RETRIEVAL, "Search GetParents Describe IndexDocument DeleteDocument RetireDocument", {SERVICE}),
    **_all(RETRIEVAL, "ListVersions CreateGeneration ListGenerations", {SERVICE}),
    **_all(RETRIEVAL, "SwitchGeneration DropGeneration", {SERVICE}),
    **_all("grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo", ROLES),
}


def check(method: str, call: Call) -> None:
    """Raises PermissionDenied unless a role of the call's is enough for the method.

    The role `service` is the handing process's own; for everything else its caller's roles count.
    """
    own = call.caller.roles
    roles = (own - {SERVICE}) | {SERVICE} if call.via else own
    if not RIGHTS.get(method, frozenset()) & roles:
        raise PermissionDenied(f"no role of the caller's allows {method}", "ROLE_MISSING")
