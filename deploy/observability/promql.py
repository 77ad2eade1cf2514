"""PromQL by its parts, so that every board asks in the same words."""

from deploy.observability.panels import Query

WINDOW = "$__rate_interval"
ASKED = 'method=~".*AssistantService/(Search|Prompt|Generate|GenerateStream)"'
BAD = 'code=~"UNKNOWN|INTERNAL|UNAVAILABLE|DEADLINE_EXCEEDED|DATA_LOSS|RESOURCE_EXHAUSTED"'
NO_GPU = "there is no GPU in the cpu profile"
NOTHING_WRONG = "nothing of the kind has happened"


def rate(metric: str, by: str = "", **labels: str) -> str:
    """Events per second, added up by labels."""
    wanted = ",".join(f'{name}=~"{value}"' for name, value in labels.items())
    return f"sum{f' by ({by})' if by else ''} (rate({metric}{{{wanted}}}[{WINDOW}]))"


def quantile(share: float, metric: str, by: str = "", **labels: str) -> str:
    """A quantile of a histogram."""
    return f"histogram_quantile({share}, {rate(f'{metric}_bucket', f'{by}, le' if by else 'le', **labels)})"


def quantiles(metric: str, name: str = "", by: str = "", **labels: str) -> list[Query]:
    """The three that are looked at."""
    shares = ((0.5, "p50"), (0.95, "p95"), (0.99, "p99"))
    return [Query(quantile(share, metric, by, **labels), f"{name} {text}".strip()) for share, text in shares]


def burn(window: str) -> Query:
    """How many times faster than it may the budget is used up."""
    expr = f"radrag:bad_ratio:{window} / on (slo) (1 - radrag:objective)"
    return Query(expr, f"{{{{slo}}}} {window}")


def ratio(part: str, whole: str, per: str = "/") -> str:
    """One by the other; `per` says how series are matched."""
    return f"{part} {per} {whole}"
