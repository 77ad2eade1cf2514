#!/bin/sh
# Installs Debian's Chromium for the console's tests. Where it cannot be had they skip and say so; not in CI.
set -eu

command -v chromium >/dev/null && exit 0
without() {
    echo "$1: the console's tests will skip" >&2
    [ "${CI:-}" != true ] || exit 1
    exit 0
}
command -v apt-get >/dev/null || without "not a Debian, and no chromium on it"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    without "no chromium, and no right to run apt-get install chromium"
fi
echo "installing: chromium"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get install -y --no-install-recommends chromium >/dev/null 2>&1 || {
    $as_root apt-get update -qq
    $as_root apt-get install -y --no-install-recommends chromium >/dev/null || without "chromium cannot be installed"
}
