#!/bin/sh
# Runs one test vector, which the spec passes as arguments: vectors.sh certificate KEYS CERTIFICATE MACHINE NOW [KIND];
# vectors.sh request KEY MACHINE NONCE; vectors.sh carried KEYS ANSWER KEY MACHINE NONCE;
# vectors.sh answer FOLDER KEYS METHOD TARGET DIGEST NONCE STATUS; vectors.sh clock AHEAD LATEST CLOCK WRITTEN.
LICENSE_FUNCTIONS_ONLY=1
folder=/nonexistent
. "$(dirname "$0")/muster-license.sh"
what=$1
shift
case $what in
  certificate)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    certificate_is "$@"
    ;;
  request) request_text "$@" ;;
  carried)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    answer_says "$1" "$(printf %s "$2" | tr -d ' \t\r\n')" "$3" "$4" "$5"
    ;;
  answer)
    work=$1
    shift
    answered_at "$@"
    ;;
  clock) time_now "$@" ;;
esac
