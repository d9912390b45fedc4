#!/bin/sh
# Runs a command, then writes the processor time of its processes to dist/timings, for the table of `npm test`.
"$@"
code=$?
file="dist/timings/$(printf '%s.%s' "$NX_TASK_TARGET_PROJECT" "$NX_TASK_TARGET_TARGET" | tr '/:' '--')"
# `times` has to run in this shell: it reports the children that this shell waited for.
mkdir -p dist/timings && times >"$file"
exit $code
