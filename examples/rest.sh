#!/bin/sh
# The same over HTTP, whole and as a stream of events. Run: examples/rest.sh QUESTION
set -eu
address=${RADRAG_HTTP_ADDRESS:-127.0.0.1:8080}
body=$(python3 -c 'import json, sys; print(json.dumps({"question": sys.argv[1]}))' "$1")
curl -sS --fail-with-body "http://$address/v1/generate" -H 'Content-Type: application/json' \
    -H 'Grpc-Timeout: 30S' -d "$body"
echo
curl -sSN --fail-with-body "http://$address/v1/generate" -H 'Content-Type: application/json' \
    -H 'Accept: text/event-stream' -d "$body"
