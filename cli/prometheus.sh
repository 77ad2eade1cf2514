#!/bin/sh
# Puts Debian's Prometheus and promtool into var/prometheus for tests: unpacked only, so that no service starts.
set -eu
cd "$(dirname "$0")/.."

command -v promtool >/dev/null && command -v prometheus >/dev/null && exit 0
target=$PWD/var/prometheus
[ -x "$target/usr/bin/promtool" ] && exit 0

command -v apt-get >/dev/null || {
    echo "not a Debian: install prometheus with promtool, then run this again" >&2
    exit 1
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
if ! apt-get download -qq prometheus 2>/dev/null; then
    as_root=
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    $as_root apt-get update -qq
    apt-get download -qq prometheus
fi
mkdir -p "$target"
dpkg-deb -x prometheus_*.deb "$target"
