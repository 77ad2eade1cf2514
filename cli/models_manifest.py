"""The model servers' own manifest of weights, for the commands that fetch, check and bundle them.

The module lies in a model's folder, where it must do without any package: it is loaded from there.
"""

import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from cli.places import MODEL_REPOSITORY

if TYPE_CHECKING:
    import weights_manifest as manifests
else:

    def _loaded() -> ModuleType:
        path = MODEL_REPOSITORY / "frida" / "1" / "weights_manifest.py"
        spec = importlib.util.spec_from_file_location("weights_manifest", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(spec.name, module)  # dataclasses look their module up
        spec.loader.exec_module(module)
        return module

    manifests = sys.modules.get("weights_manifest") or _loaded()

FILE = manifests.FILE
FORMAT = manifests.FORMAT
File = manifests.File
Manifest = manifests.Manifest
WrongBundle = manifests.WrongBundle
checked = manifests.checked
digest = manifests.digest
fault = manifests.fault
faults = manifests.faults
parsed = manifests.parsed
read = manifests.read
text = manifests.text
