#!/bin/sh
# Makes the stubs of buf.gen.yaml and builds the Java, Go and TypeScript examples into var/languages.
# Compilers, generators and gRPC come from Debian and npm; what is missing is installed. Run: make languages
set -eu
cd "$(dirname "$0")/.."
built=$PWD/var/languages

missing=
command -v javac >/dev/null || missing="$missing default-jdk-headless"
command -v npm >/dev/null || missing="$missing nodejs npm"
for package in libgrpc-java libnetty-java libperfmark-java libprotobuf-java \
    protobuf-compiler protobuf-compiler-grpc-java-plugin \
    golang-go golang-google-grpc-dev golang-google-protobuf-dev golang-github-golang-protobuf-1-5-dev \
    protoc-gen-go protoc-gen-go-grpc; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q ' installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
    echo "installing:$missing"
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq
    # shellcheck disable=SC2086  # a list of names
    $as_root apt-get install -y --no-install-recommends $missing >/dev/null
fi

rm -rf "$built/java" "$built/ask" "$built/typescript/built"
mkdir -p "$built/java" "$built/typescript"
cp examples/typescript/ask.ts examples/typescript/*.json "$built/typescript"
npm install --prefix "$built/typescript" --silent --no-audit --no-fund --no-package-lock
export PATH="$built/typescript/node_modules/.bin:$PWD/.venv/bin:$PATH"
buf generate

echo "building: java"
# shellcheck disable=SC2046  # names without spaces
javac -nowarn -Xlint:none -proc:none -d "$built/java" -cp '/usr/share/java/*' \
    $(find var/stubs/java -name '*.java') examples/java/Ask.java
echo "building: go"
GO111MODULE=off GOFLAGS='' GOPATH="$PWD/var/stubs/go:/usr/share/gocode" go build -o "$built/ask" examples/go/ask.go
echo "building: typescript"
rm -rf "$built/typescript/stubs"
cp -r var/stubs/typescript "$built/typescript/stubs"
(cd "$built/typescript" && tsc)
