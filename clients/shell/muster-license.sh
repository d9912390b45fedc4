#!/bin/sh
# A license client for one program on one machine, for POSIX shells with curl and openssl (3.0 or newer).
#
#   export LICENSE_URL=https://licenses.example.com LICENSE_PRODUCT=my-program
#   muster-license.sh activate KEY    once, after the purchase
#   muster-license.sh check           at each start: checks with the service or, without an answer, by the certificate
#   muster-license.sh offline         checks by the certificate alone
#   muster-license.sh release         releases the license for another machine
#   muster-license.sh trial           starts or continues the trial without a key; once per machine
#   muster-license.sh request KEY     prints the activation request of an offline machine, to carry to the seller
#   muster-license.sh answer FILE     accepts the answer to the request; needs LICENSE_KEYS
#   muster-license.sh feature NAME    prints a feature of the certificate: true, false or a number
#   muster-license.sh machine         prints the machine ID that the service knows
#
# It prints one line and exits with 0 if the program may run, with 1 if the service refused it, and with 2 if there was no
# answer and no valid certificate. It trusts only answers that are signed for its own request. Optional variables:
# LICENSE_FOLDER is the folder of the stored license. LICENSE_KEYS is a file with public keys of the service
# (/.well-known/license-keys.json) that are trusted instead of fetched ones. LICENSE_SERVICE_PRODUCT is the product at a
# service with several products.

set -u
umask 077
LC_ALL=C
export LC_ALL

tolerance=600
known_keys() { [ -n "${LICENSE_KEYS:-}" ] && echo "$LICENSE_KEYS" || echo "$folder/keys.json"; }
base64url_to_bytes() {
  text=$(tr '_-' '/+')
  while [ $((${#text} % 4)) -ne 0 ]; do text="$text="; done
  printf %s "$text" | openssl base64 -d -A
}
sha256_base64() { openssl dgst -sha256 -binary | openssl base64 -A; }
base64url() { openssl base64 -A | tr '/+' '_-' | tr -d =; }
is_number() { case $1 in '' | *[!0-9]*) return 1 ;; *) [ ${#1} -le 12 ] ;; esac }

# text_in NAME < JSON: prints the string of that name; nothing if there is none.
text_in() { tr -d '\n' | sed -n "s/.*\"$1\" *: *\"\([^\"\\\\]*\)\".*/\1/p"; }
number_in() { tr -d '\n' | sed -n "s/.*\"$1\" *: *\([0-9][0-9]*\)[,}].*/\1/p"; }

# has_signed KEYS KID FILE SIGNATURE: succeeds if the key KID of the keys file signed the file. SIGNATURE is in base64.
has_signed() {
  x=$(tr -d ' \n\t' < "$1" | tr '{' '\n' | grep -F "\"kid\":\"$2\"" | sed -n 's/.*"x":"\([A-Za-z0-9_-]*\)".*/\1/p')
  [ ${#x} -eq 43 ] || return 1
  { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; printf %s "$x" | base64url_to_bytes; } > "$work/key.der"
  printf %s "$4" | openssl base64 -d -A > "$work/signature" 2> /dev/null
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$3" -sigfile "$work/signature" > /dev/null 2>&1
}

# is_signed KEYS TEXT KIND: succeeds if one of the keys signed this text of this kind. Writes the payload to $work/payload.
is_signed() {
  body=${2#"$3".}
  signature=${body#*.}
  body=${body%%.*}
  case "$2" in "$3.$body.$signature") ;; *) return 1 ;; esac
  case "$body$signature" in '' | *[!A-Za-z0-9_-]*) return 1 ;; esac
  printf %s "$body" | base64url_to_bytes > "$work/payload" 2> /dev/null
  printf '%s.%s' "$3" "$body" > "$work/signed"
  standard=$(printf %s "$signature" | base64url_to_bytes | openssl base64 -A)
  has_signed "$1" "$(text_in kid < "$work/payload")" "$work/signed" "$standard"
}

# certificate_is KEYS CERTIFICATE MACHINE NOW [KIND]: prints valid, ended, other_machine or not_genuine. Writes the payload
# to $work/payload. KIND is lic1 for a license, which is the default, or trial1 for a trial.
certificate_is() {
  is_signed "$1" "$2" "${5:-lic1}" || { echo not_genuine; return; }
  ends=$(number_in exp < "$work/payload")
  is_number "$ends" && is_number "$(number_in iat < "$work/payload")" && [ -n "$(text_in lic < "$work/payload")" ] ||
    { echo not_genuine; return; }
  mark=$(printf %s "$3" | openssl dgst -sha256 -binary | base64url)
  [ "$(text_in machine < "$work/payload")" = "$mark" ] || { echo other_machine; return; }
  if [ "$4" -lt "$ends" ]; then echo valid; else echo ended; fi
}

bare_key() { printf %s "$1" | tr 'a-z' 'A-Z' | tr 'OIL' '011' | tr -cd '0-9A-Z' | tail -c 25; }

# answer_says KEYS ANSWER KEY MACHINE NONCE: prints `granted CERTIFICATE TIME`, or `own REASON FINAL MESSAGE` if the service
# itself refused this request, or the reason why the answer is not valid.
answer_says() {
  is_signed "$1" "$2" licans1 || { echo untrusted; return; }
  made=$(number_in iat < "$work/payload")
  is_number "$made" || { echo untrusted; return; }
  mark=$(printf %s "$4" | openssl dgst -sha256 -binary | base64url)
  [ "$(text_in nonce < "$work/payload")" = "$5" ] && [ "$(text_in machine < "$work/payload")" = "$mark" ] &&
    [ "$(bare_key "$(text_in licenseKey < "$work/payload")")" = "$(bare_key "$3")" ] ||
    { echo answer_of_another_request; return; }
  reason=$(text_in reason < "$work/payload")
  if [ -n "$reason" ]; then
    final=true
    ! grep -q '"retryable":true' "$work/payload" || final=false
    echo "own $reason $final $(text_in message < "$work/payload")"
    return
  fi
  granted=$(text_in certificate < "$work/payload")
  # Verify it at time 0, before every end. The caller checks the end with the clock.
  case $(certificate_is "$1" "$granted" "$4" 0) in valid) echo "granted $granted $made" ;; *) echo untrusted ;; esac
}

# request_text KEY MACHINE NONCE: prints the activation request of an offline machine.
request_text() {
  asked=$(printf '{"licenseKey":"%s","machineId":"%s","nonce":"%s"}' "$(escaped "$1")" "$(escaped "$2")" "$3" | base64url)
  echo "licreq1.$asked"
}

# header NAME < headers: prints the value of a header.
header() { tr -d '\r' | sed -n "s/^$1: *//Ip" | tail -n 1; }

# answered_at KEYS METHOD TARGET DIGEST NONCE STATUS: verifies the answer in $work/headers and $work/body to this request.
# Prints its time by the clock of the service; nothing if the signature is not valid. DIGEST is that of the request body,
# empty if there is none.
answered_at() {
  member=$(printf ', %s\n' "$(header signature-input < "$work/headers")" | sed -n 's/.*, *license=\(([^)]*);[^,]*\).*/\1/p')
  signature=$(printf ', %s\n' "$(header signature < "$work/headers")" | sed -n 's/.*, *license=:\([A-Za-z0-9+/=]*\):.*/\1/p')
  parameters=${member#*)}
  kid=$(printf %s "$parameters" | sed -n 's/.*;keyid="\([^"\\]*\)".*/\1/p')
  created=$(printf '%s;' "$parameters" | sed -n 's/.*;created=\([0-9]\{1,12\}\);.*/\1/p')
  sent=$(header content-digest < "$work/headers")
  [ "$sent" = "sha-256=:$(sha256_base64 < "$work/body"):" ] || return 1
  is_number "$created" || return 1
  query=?
  case $3 in *\?*) query="?${3#*\?}" ;; esac
  covered='"@status" "content-digest" "@method";req "@path";req "@query";req'
  [ -z "$4" ] || covered="$covered \"content-digest\";req"
  [ "${member%%)*})" = "($covered \"license-nonce\";req)" ] || return 1
  {
    printf '"@status": %s\n"content-digest": %s\n' "$6" "$sent"
    printf '"@method";req: %s\n"@path";req: %s\n"@query";req: %s\n' "$2" "${3%%\?*}" "$query"
    [ -z "$4" ] || printf '"content-digest";req: %s\n' "$4"
    printf '"license-nonce";req: %s\n"@signature-params": %s' "$5" "$member"
  } > "$work/base"
  has_signed "$1" "$kid" "$work/base" "$signature" && echo "$created"
}

# time_now AHEAD LATEST CLOCK WRITTEN, in seconds: prints the time; nothing if the clock was turned back.
time_now() {
  [ "$3" -ge $(($4 - tolerance)) ] || return 1
  now=$(($3 + $1))
  [ "$now" -ge $(($2 - tolerance)) ] || return 1
  if [ "$now" -gt "$2" ]; then echo "$now"; else echo "$2"; fi
}

machine_id() {
  own=
  if [ "$(uname)" = Darwin ]; then
    own=$(/usr/sbin/ioreg -rd1 -c IOPlatformExpertDevice | sed -n 's/.*"IOPlatformUUID" = "\([0-9A-Fa-f-]*\)".*/\1/p')
    [ ${#own} -eq 36 ] || { echo 'the operating system does not report a machine id' >&2; exit 2; }
  else
    for file in /etc/machine-id /var/lib/dbus/machine-id "$folder/machine-id"; do
      own=$(cat "$file" 2> /dev/null) && [ ${#own} -eq 32 ] && [ -n "$(printf %s "$own" | tr -d 0)" ] && break
      own=
    done
    if [ -z "$own" ]; then
      openssl rand -hex 16 > "$folder/machine-id.$$"
      # Another process may create it at the same time. The first file wins.
      ln "$folder/machine-id.$$" "$folder/machine-id" 2> /dev/null
      rm -f "$folder/machine-id.$$"
      own=$(cat "$folder/machine-id")
    fi
  fi
  own=$(printf %s "$own" | tr 'A-F' 'a-f')
  printf 'license-client:%s' "$LICENSE_PRODUCT" | openssl dgst -sha256 -hmac "$own" | sed 's/.*= *//'
}

put() { printf '%s\n' "$2" > "$folder/$1.$$" && mv -f "$folder/$1.$$" "$folder/$1"; }
get() { cat "$folder/$1" 2> /dev/null; }
escaped() { printf %s "$1" | sed 's/[\\"]/\\&/g' | tr -d '\000-\037'; }
urlencoded() { printf %s "$1" | od -An -v -tx1 | tr -d '\n' | sed 's/ /%/g'; }

fetch_keys() {
  named=
  [ -z "${LICENSE_SERVICE_PRODUCT:-}" ] || named="?product=$LICENSE_SERVICE_PRODUCT"
  curl -sSf --max-time 10 "$LICENSE_URL/.well-known/license-keys.json$named" -o "$folder/keys.json.$$" 2> /dev/null &&
    mv -f "$folder/keys.json.$$" "$folder/keys.json"
  rm -f "$folder/keys.json.$$"
}

# ask METHOD TARGET BODY: returns 0 if the service has decided, with its status in $status, and 1 without a decision.
ask() {
  nonce=$(openssl rand -hex 18)
  digest=
  set -- "$1" "$2" "$3" -H "license-nonce: $nonce"
  [ -z "${LICENSE_SERVICE_PRODUCT:-}" ] || set -- "$@" -H "license-product: $LICENSE_SERVICE_PRODUCT"
  if [ -n "$3" ]; then
    printf %s "$3" > "$work/question"
    digest="sha-256=:$(sha256_base64 < "$work/question"):"
    set -- "$@" -H 'content-type: application/json' -H "content-digest: $digest" --data-binary "@$work/question"
  fi
  method=$1 target=$2
  shift 3
  # The URL contains the key, so it is not passed as an argument, which process lists would show.
  status=$(printf 'url = "%s%s"\n' "$LICENSE_URL" "$target" |
    curl -sS --max-time 10 --max-filesize 262144 -K - -X "$method" "$@" -D "$work/headers" -o "$work/body" -w '%{http_code}' 2> /dev/null) || return 1
  [ -f "$work/body" ] || : > "$work/body"
  case $status in 429 | 5??) return 1 ;; esac
  kid=$(header signature-input < "$work/headers" | sed -n 's/.*;keyid="\([^"\\]*\)".*/\1/p')
  [ -n "${LICENSE_KEYS:-}" ] || grep -qsF "\"kid\":\"$kid\"" "$folder/keys.json" || fetch_keys
  [ -f "$(known_keys)" ] || return 1
  heard_at=$(answered_at "$(known_keys)" "$method" "$target" "$digest" "$nonce" "$status") || return 1
  [ "$(header license-verdict < "$work/headers")" = final ] || return 1
  put time "$((heard_at - $(date +%s))) $heard_at"
}

refuse() {
  rm -f "$folder/certificate" "$folder/request"
  say_refusal
}
say_refusal() {
  said=$(text_in message < "$work/body")
  echo "${said:-This license does not count on this machine: $(header license-state < "$work/headers").}"
  exit 1
}

activate() {
  ask POST /api/activate "{\"licenseKey\":\"$(escaped "$1")\",\"machineId\":\"$machine\"}" || return 1
  # A stored trial or a stored license of another key stays valid if this key is refused.
  [ "$status" = 200 ] || { [ "$(bare_key "$(get key)")" = "$(bare_key "$1")" ] || say_refusal; refuse; }
  certificate=$(header license-certificate < "$work/headers")
  [ "$(text_in machineId < "$work/body")" = "$machine" ] || return 1
  [ "$(certificate_is "$(known_keys)" "$certificate" "$machine" "$heard_at")" = valid ] || return 1
  put key "$(text_in key < "$work/body")"
  put certificate "$certificate"
}

# A stored trial has no key.
kind_kept() { if [ -f "$folder/key" ]; then echo lic1; else echo trial1; fi; }

trial() {
  ask POST /api/trials "{\"machineId\":\"$machine\"}" || { offline; return; }
  [ "$status" = 200 ] || refuse
  certificate=$(header license-certificate < "$work/headers")
  is=$(certificate_is "$(known_keys)" "$certificate" "$machine" "$heard_at" trial1)
  [ "$(text_in machineId < "$work/body")" = "$machine" ] && [ "$is" = valid ] ||
    { echo 'What answered was not the license service.'; exit 2; }
  put certificate "$certificate"
  echo 'On trial.'
}

# Accepts the answer that people carried to this machine.
accept() {
  key=$(sed -n 1p "$folder/request" 2> /dev/null) && nonce=$(sed -n 2p "$folder/request") ||
    { echo 'No request was made on this machine, or it was refused.'; exit 1; }
  [ -f "$(known_keys)" ] || { echo 'LICENSE_KEYS must name the keys of the service.'; exit 2; }
  says=$(answer_says "$(known_keys)" "$(tr -d ' \t\r\n' < "$1")" "$key" "$machine" "$nonce")
  case $says in
    'granted '*)
      # The time of the answer counts from its first acceptance, so accepting it again must not reset the clock.
      if [ "$(sed -n 3p "$folder/request")" != answered ] || [ "$(kind_kept)" != lic1 ]; then
        made=${says##* } says=${says% *}
        clock=$(date +%s)
        ahead=$((made - clock))
        [ "$ahead" -gt 0 ] || ahead=0
        put time "$ahead $made"
        put key "$key"
        put certificate "${says#granted }"
        put request "$key
$nonce
answered"
      fi
      offline
      ;;
    'own '*)
      [ "$(bare_key "$(get key)")" != "$(bare_key "$key")" ] || rm -f "$folder/certificate" "$folder/request"
      echo "${says#own * * }"
      exit 1
      ;;
    untrusted) echo 'This answer is not the license service’s.'; exit 2 ;;
    *) echo 'The response does not belong to a request of this machine, or it is outdated.'; exit 1 ;;
  esac
}

# Checks the license by the certificate alone.
offline() {
  certificate=$(get certificate) || { echo 'The license service was not heard, and no license is kept here.'; exit 2; }
  read -r ahead latest < "$folder/time" || { echo 'The license service was not heard.'; exit 2; }
  written=$(ls -1 "$folder/time" > /dev/null && date -r "$folder/time" +%s 2> /dev/null || echo 0)
  now=$(time_now "$ahead" "$latest" "$(date +%s)" "$written") || { echo 'The clock of this machine was turned back.'; exit 2; }
  is=$(certificate_is "$(known_keys)" "$certificate" "$machine" "$now" "$(kind_kept)")
  case $is in
    valid) put time "$ahead $now"; echo "Licensed by the certificate, plan $(plan_of "$certificate")." ;;
    *) echo "The license service was not heard, and the certificate does not count: $is."; exit 2 ;;
  esac
}

payload_of() { printf %s "$1" | cut -d. -f2 | base64url_to_bytes; }
plan_of() { payload_of "$1" | text_in plan; }

check() {
  [ -f "$folder/key" ] || [ ! -f "$folder/certificate" ] || { trial; return; }
  key=$(get key) || { echo 'No license was activated on this machine.'; exit 1; }
  ask GET "/api/activate/check?licenseKey=$(urlencoded "$key")&machineId=$machine" '' || { offline; return; }
  [ "$status" = 200 ] && grep -q '"valid":true' "$work/body" || refuse
  checked_at=$heard_at
  certificate=$(get certificate || :)
  is=$(certificate_is "$(known_keys)" "$certificate" "$machine" "$checked_at")
  began=$(number_in iat < "$work/payload") ends=$(number_in exp < "$work/payload")
  # Renew the certificate after half of its validity.
  [ "$is" = valid ] && [ $(((began + ends) / 2)) -gt "$checked_at" ] || activate "$key" || :
  echo "Licensed, plan $(plan_of "$(get certificate)")."
}

# Specs load only the functions.
[ -z "${LICENSE_FUNCTIONS_ONLY:-}" ] || return 0

: "${LICENSE_URL:?says where the license service is}" "${LICENSE_PRODUCT:?is the name of the program}"
LICENSE_URL=${LICENSE_URL%/}
case $LICENSE_URL in
  https://* | http://localhost* | http://127.*) ;;
  *) [ -n "${LICENSE_KEYS:-}" ] || { echo 'LICENSE_URL must be of https, unless LICENSE_KEYS names the keys' >&2; exit 2; } ;;
esac
folder=${LICENSE_FOLDER:-${XDG_STATE_HOME:-$HOME/.local/state}/$LICENSE_PRODUCT}
mkdir -p "$folder" || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
: > "$work/payload"
machine=$(machine_id) || exit 2

case ${1:-} in
  activate)
    activate "${2:?the key}" || { [ "$(get key)" = "$2" ] && { offline; exit; }; echo 'The license service was not heard.'; exit 2; }
    echo "Licensed, plan $(plan_of "$(get certificate)")."
    ;;
  check) check ;;
  offline) offline ;;
  release)
    key=$(get key) || { echo 'No license was activated on this machine.'; exit 1; }
    ask POST /api/activate/release "{\"licenseKey\":\"$key\",\"machineId\":\"$machine\"}" || { echo 'The license service was not heard.'; exit 2; }
    [ "$status" = 200 ] || { text_in message < "$work/body"; exit 1; }
    rm -f "$folder/key" "$folder/certificate" "$folder/request"
    echo 'The license was given back.'
    ;;
  trial) if [ -f "$folder/key" ]; then check; else trial; fi ;;
  request)
    nonce=$(openssl rand -hex 18)
    put request "${2:?the key}
$nonce"
    request_text "$2" "$machine" "$nonce"
    ;;
  answer) accept "${2:?the file}" ;;
  feature)
    : "${2:?a name}"
    offline > /dev/null
    value=$(payload_of "$(get certificate)" | sed -n "s/.*\"features\":{[^}]*\"$2\":\([a-z0-9]*\)[,}].*/\1/p")
    [ -z "$value" ] || printf '%s\n' "$value"
    ;;
  machine) echo "$machine" ;;
  *) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
