#!/usr/bin/env bash
# work_exec.sh: a handler for `eventq work`, which takes events, keeps their leases and reports:
#
#   eventq work email --exec ./work_exec.sh -j 4
#
# The payload is on stdin. Exit code 0: done. 75: not now, give it back. Any other: a failure, and stderr says why.
set -euo pipefail
to=$(jq -r '.to // empty')
if [[ ! $to ]]; then
  echo "The payload of event $EVENTQ_ID does not say whom to write to." >&2
  exit 1
fi
echo "mail to $to"
