"""Starts Triton for the vLLM model once its weights are their manifest's: vLLM reads whatever it finds.

    python3 model_repository/qwen3_30b_a3b/start tritonserver --model-repository=… --load-model=qwen3_30b_a3b

Where something else checks them first, as the chart's init container does, Triton is started by itself.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

MODEL = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(MODEL.parent / "frida" / "1"))

from weights_manifest import WrongBundle, verify  # noqa: E402 - it lies beside

FILES = ("config.json", "tokenizer.json")


def main(command: Sequence[str]) -> None:
    """Becomes the command, or ends with one line that names the file."""
    engine = json.loads((MODEL / "1" / "model.json").read_text(encoding="utf-8"))
    try:
        verify(Path(engine["model"]), *FILES)
    except WrongBundle as wrong:
        sys.exit(f"{MODEL.name} does not start: {wrong}")
    os.execvp(command[0], command)  # noqa: S606 - the command line is the operator's own


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
