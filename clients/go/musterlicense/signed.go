package musterlicense

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// PublicKey is an Ed25519 key of the service from /.well-known/license-keys.json.
type PublicKey struct {
	Kty string `json:"kty"`
	Crv string `json:"crv"`
	X   string `json:"x"`
	Kid string `json:"kid"`
}

// keyRing maps key IDs to keys.
type keyRing map[string]ed25519.PublicKey

func ringOf(keys []PublicKey) keyRing {
	ring := keyRing{}
	for _, key := range keys {
		x, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(key.X, "="))
		if key.Kty == "OKP" && key.Crv == "Ed25519" && key.Kid != "" && err == nil && len(x) == ed25519.PublicKeySize {
			ring[key.Kid] = x
		}
	}
	return ring
}

func (ring keyRing) verifies(kid string, message, signature []byte) bool {
	key, known := ring[kid]
	return known && ed25519.Verify(key, message, signature)
}

// certificate allows one machine to run offline until a time.
type certificate struct {
	plan, machine string
	// The validity, in seconds since 1970.
	iat, exp          int64
	isLent, isOfTrial bool
	features          map[string]any
}

const (
	ofLicense = "lic1"
	ofTrial   = "trial1"
)

// The largest integer that JSON represents exactly in every reader.
const mostWhole = 1<<53 - 1

func wholeIn(value any) (int64, bool) {
	number, isNumber := value.(float64)
	if !isNumber || number != math.Trunc(number) || math.Abs(number) > mostWhole {
		return 0, false
	}
	return int64(number), true
}

// readSigned verifies a signed text of this kind and answers its payload; nil if it is invalid.
func readSigned(text, kind string, ring keyRing) map[string]any {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[0] != kind {
		return nil
	}
	payload, badPayload := base64.RawURLEncoding.DecodeString(parts[1])
	signature, badSignature := base64.RawURLEncoding.DecodeString(parts[2])
	var said map[string]any
	if badPayload != nil || badSignature != nil || json.Unmarshal(payload, &said) != nil {
		return nil
	}
	kid, hasKey := said["kid"].(string)
	if !hasKey || !ring.verifies(kid, []byte(parts[0]+"."+parts[1]), signature) {
		return nil
	}
	return said
}

// readCertificate verifies a certificate of this kind and answers it, even if it has expired; nil if it is invalid.
func readCertificate(text, kind string, ring keyRing) *certificate {
	said := readSigned(text, kind, ring)
	_, hasLicense := said["lic"].(string)
	plan, hasPlan := said["plan"].(string)
	machine, hasMachine := said["machine"].(string)
	iat, hasStart := wholeIn(said["iat"])
	exp, hasEnd := wholeIn(said["exp"])
	if !(hasLicense && hasPlan && hasMachine && hasStart && hasEnd) {
		return nil
	}
	_, isLent := wholeIn(said["lease"])
	features, _ := said["features"].(map[string]any)
	return &certificate{plan, machine, iat, exp, isLent, kind == ofTrial, features}
}

func markOf(machineID string) string {
	mark := sha256.Sum256([]byte(machineID))
	return base64.RawURLEncoding.EncodeToString(mark[:])
}

func (one *certificate) isOf(machineID string) bool { return one.machine == markOf(machineID) }

// Verification of signed answers: the part of RFC 9421 that the service uses.

type question struct {
	method string
	// The path and query as sent.
	target string
	// Nil where it has none.
	body  []byte
	nonce string
}

type answer struct {
	status  int
	headers http.Header
	body    []byte
}

func (one *answer) header(name string) string { return strings.Join(one.headers.Values(name), ", ") }

func digestOf(body []byte) string {
	digest := sha256.Sum256(body)
	return "sha-256=:" + base64.StdEncoding.EncodeToString(digest[:]) + ":"
}

var (
	members  = regexp.MustCompile(`(?:"(?:[^"\\]|\\.)*"|\([^)]*\)|[^,"(])+`)
	bytesOf  = regexp.MustCompile(`^:([A-Za-z0-9+/]+={0,2}):$`)
	keyNamed = regexp.MustCompile(`;keyid="([^"\\]+)"`)
	input    = regexp.MustCompile(`^\(([^)]*)\)(;.+)$`)
	madeAt   = regexp.MustCompile(`;created=(\d{1,12})(?:;|$)`)
)

// memberOf answers a member of a dictionary (RFC 8941). Commas in strings and parentheses do not separate members.
func memberOf(dictionary, name string) string {
	for _, member := range members.FindAllString(dictionary, -1) {
		if rest := strings.TrimSpace(member); strings.HasPrefix(rest, name+"=") {
			return rest[len(name)+1:]
		}
	}
	return ""
}

func bytesIn(member string) []byte {
	found := bytesOf.FindStringSubmatch(member)
	if found == nil {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(found[1])
	if err != nil {
		return nil
	}
	return data
}

// keyIDOf answers the key ID that the signature of an answer names.
func keyIDOf(given *answer) string {
	found := keyNamed.FindStringSubmatch(memberOf(given.header("signature-input"), "license"))
	if found == nil {
		return ""
	}
	return found[1]
}

// signedAt verifies an answer to a request. It answers its time in seconds since 1970; 0 if the signature is not valid.
func signedAt(asked question, given *answer, ring keyRing) int64 {
	sent := memberOf(given.header("signature-input"), "license")
	parts := input.FindStringSubmatch(sent)
	signature := bytesIn(memberOf(given.header("signature"), "license"))
	if parts == nil || signature == nil {
		return 0
	}
	made := madeAt.FindStringSubmatch(parts[2])
	digest := sha256.Sum256(given.body)
	if made == nil || string(bytesIn(memberOf(given.header("content-digest"), "sha-256"))) != string(digest[:]) {
		return 0
	}
	path, query, _ := strings.Cut(asked.target, "?")
	values := map[string]string{
		`"@status"`:           strconv.Itoa(given.status),
		`"content-digest"`:    given.header("content-digest"),
		`"@method";req`:       asked.method,
		`"@path";req`:         path,
		`"@query";req`:        "?" + query,
		`"license-nonce";req`: asked.nonce,
	}
	if asked.body != nil {
		values[`"content-digest";req`] = digestOf(asked.body)
	}
	// The signature must cover exactly the known components.
	covered := strings.Split(parts[1], " ")
	if len(covered) != len(values) {
		return 0
	}
	var base strings.Builder
	for _, name := range covered {
		value, known := values[name]
		if !known {
			return 0
		}
		delete(values, name)
		fmt.Fprintf(&base, "%s: %s\n", name, value)
	}
	fmt.Fprintf(&base, `"@signature-params": %s`, sent)
	if !ring.verifies(keyIDOf(given), []byte(base.String()), signature) {
		return 0
	}
	seconds, _ := strconv.ParseInt(made[1], 10, 64)
	return seconds
}

// The trusted time.

type timeSeen struct {
	// The lead of the service's clock over this machine's, and the latest time that was seen, in milliseconds.
	AheadMillis  float64 `json:"aheadMillis"`
	LatestMillis float64 `json:"latestMillis"`
}

// The tolerance for small clock corrections.
const toleranceMillis = 10 * 60_000

// timeNow answers the time in milliseconds since 1970; false if the clock was turned back.
func timeNow(seen timeSeen, clockMillis, writtenMillis float64) (float64, bool) {
	now := clockMillis + seen.AheadMillis
	if clockMillis < writtenMillis-toleranceMillis || now < seen.LatestMillis-toleranceMillis {
		return 0, false
	}
	return math.Max(now, seen.LatestMillis), true
}
