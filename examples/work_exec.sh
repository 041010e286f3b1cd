#!/usr/bin/env bash
# work_exec.sh: a handler for `eventq work`, which claims events, extends their leases and sends reports:
#
#   eventq work email --exec ./work_exec.sh -j 4
#
# The payload is on stdin. Exit code 0: done. 75: release the event. Any other: a failure; stderr says why.
set -euo pipefail
to=$(jq -r '.to // empty')
if [[ ! $to ]]; then
  echo "The payload of event $EVENTQ_ID has no address in \"to\"." >&2
  exit 1
fi
echo "mail to $to"
