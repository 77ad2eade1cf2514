#!/bin/sh
# Finds the Debian packages that are missing and installs them, or prints the one line that would.
# Usage: setup.sh PYTHON
set -eu

python=$1
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || {
    echo "set-up needs Python 3.11: apt-get install python3.11, or make PYTHON=/path/to/python3.11" >&2
    exit 1
}
if [ "$version" != 3.11 ]; then
    echo "set-up needs Python 3.11, and $python is $version: make PYTHON=/path/to/python3.11" >&2
    exit 1
fi

missing=
"$python" -c 'import ensurepip' 2>/dev/null || missing="$missing python3.11-venv"
# The model server's Python processes load it; an interpreter may bring its own.
"$python" -c 'from cli.model_environment import *; require_libpython(ModelEnvironment())' 2>/dev/null ||
    missing="$missing libpython3.11"
# With it no caller's trace loses the model server's part (cli/triton_server.py).
"$python" -c 'import sys; from ctypes.util import find_library; sys.exit(not find_library("jemalloc"))' ||
    missing="$missing libjemalloc2"
# The sample PDFs are set in it.
[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || missing="$missing fonts-dejavu"
# Reads scanned pages, Russian and English; it brings English and the orientation of pages along.
languages=$(tesseract --list-langs 2>/dev/null) || missing="$missing tesseract-ocr"
for language in eng rus; do
    echo "$languages" | grep -qx "$language" || missing="$missing tesseract-ocr-$language"
done
[ -n "$missing" ] || exit 0

line="apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null; then
    echo "not a Debian: install what corresponds to$missing, then run this again" >&2
    exit 1
elif [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    echo "Debian packages are missing. Run this, then run make again:" >&2
    echo "  sudo apt-get update && sudo $line" >&2
    exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root $line >/dev/null
