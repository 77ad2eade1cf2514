"""Prompts whose answers are known: the generator must not serve while it answers them otherwise."""

from extractive import Extractive

_PROMPT = """Rules.

<source number="1" title="Dose limits" section="2. Occupational exposure" language="en">
Limits apply to the sum of all exposures. The effective dose limit for workers is 20 mSv per year.
</source>

<question language="en">
{question}
</question>
"""
CASES = [
    (
        "What is the effective dose limit for workers?",
        "“The effective dose limit for workers is 20 mSv per year.” [1]",
    ),
    ("What is the T2 of meniscal fibrocartilage at 1.5 T?", "Insufficient evidence"),
]


class WrongAnswer(RuntimeError):
    """The generator's answer to a known prompt is not the known one."""


def check(model: Extractive) -> None:
    """Raises WrongAnswer with the number of the case."""
    for number, (question, expected) in enumerate(CASES):
        if expected not in model.answer(_PROMPT.format(question=question)):
            raise WrongAnswer(f"known case {number}")
