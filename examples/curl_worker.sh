#!/usr/bin/env bash
# curl_worker.sh: a worker in curl and jq. Handles events with the tag "email", one at a time, until it is killed.
# If it is killed while it handles an event, another worker can claim the event when the lease has ended.
set -euo pipefail
url=${EVENTQ_URL:-http://127.0.0.1:8080}
worker=$(uname -n):$$
heartbeat=
exec 3>&1

handle() { # payload on stdin; on failure, the message on stderr
  jq -r '"mail to \(.to // error("The payload has no address in \"to\"."))"'
}

post() { curl -sS "${@:3}" --retry 5 --retry-connrefused --json "$2" "$url/events/$1" 3>&-; }

keep_lease() { # id, report, seconds between heartbeats; returns when the worker exits or the lease is lost
  trap 'kill "$pause"' EXIT
  while sleep "$3" & pause=$!; wait "$pause" && kill -0 $$; do post "$1/heartbeat" "$2" -f || break; done
}

end_heartbeat() {
  [[ ! $heartbeat ]] || kill "$heartbeat" 2>/dev/null || true # keep_lease has already returned if the lease was lost
  heartbeat=
}

trap end_heartbeat EXIT
while true; do
  event=$(post next "{\"worker_id\": \"$worker\", \"tags\": \"email\", \"wait\": 5}" | jq -c '.events[]?')
  [[ $event ]] || continue
  id=$(jq .id <<<"$event")
  report=$(jq -c '{worker_id, attempt}' <<<"$event")
  lease=$(jq '[.lease_until, .updated_at | sub("[.][0-9]+"; "") | fromdateiso8601] | .[0] - .[1]' <<<"$event")
  keep_lease "$id" "$report" "$(jq -n "$lease / 3")" >/dev/null 2>&1 3>&1 &
  heartbeat=$!
  if message=$(jq -c .payload <<<"$event" | handle 2>&1 >&3); then
    post "$id/complete" "$report" >/dev/null
  else
    post "$id/fail" "$(jq -c --arg message "$message" '.error_message = $message' <<<"$report")" >/dev/null
  fi
  end_heartbeat
done
