#!/usr/bin/env bash
# curl_worker.sh: a worker in curl and jq. Handles events with the tag "email", one at a time, until it is ended.
# An event that it was working on then goes to another worker when its lease is over.
set -euo pipefail
url=${EVENTQ_URL:-http://127.0.0.1:8080}
worker=$(uname -n):$$
exec 3>&1

handle() { # payload on stdin, messages of a failure on stderr
  jq -r '"mail to \(.to // error("The payload does not say whom to write to."))"'
}

post() { curl -sS --retry 5 --retry-connrefused --json "$2" "$url/events/$1" 3>&-; }

while true; do
  event=$(post next "{\"worker_id\": \"$worker\", \"tags\": \"email\", \"wait\": 5}" | jq -c '.events[]?')
  [[ $event ]] || continue
  id=$(jq .id <<<"$event")
  report=$(jq -c '{worker_id, attempt}' <<<"$event")
  while sleep 20; do post "$id/heartbeat" "$report"; done >/dev/null 2>&1 3>&1 & # the lease is a minute
  heartbeat=$!
  if message=$(jq -c .payload <<<"$event" | handle 2>&1 >&3); then
    post "$id/complete" "$report" >/dev/null
  else
    post "$id/fail" "$(jq -c --arg message "$message" '.error_message = $message' <<<"$report")" >/dev/null
  fi
  kill "$heartbeat"
done
