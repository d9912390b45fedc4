package musterlicense

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

const (
	attemptTime  = 10 * time.Second
	mostBytes    = 256 * 1024
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
)

// heard is the decision of the service. Without a decision only reason and wait are set.
type heard struct {
	answer
	said map[string]any
	// The time of the service, in seconds since 1970.
	seconds int64
	// "unreachable" or "untrusted", and the time to wait before the next attempt.
	reason     string
	retryAfter time.Duration
}

// Answers are read as received, without following redirects or decompression, because the body is signed.
var transport = &http.Transport{
	Proxy:              http.ProxyFromEnvironment,
	DisableCompression: true,
	DisableKeepAlives:  true,
}

var caller = &http.Client{
	Transport:     transport,
	Timeout:       attemptTime,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (client *Client) send(ctx context.Context, asked question) (*answer, error) {
	request, err := http.NewRequestWithContext(ctx, asked.method, client.base+asked.target, bytes.NewReader(asked.body))
	if err != nil {
		return nil, err
	}
	if asked.nonce != "" {
		request.Header.Set("License-Nonce", asked.nonce)
	}
	if asked.body != nil {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Content-Digest", digestOf(asked.body))
	}
	if client.serviceProduct != "" {
		request.Header.Set("License-Product", client.serviceProduct)
	}
	response, err := caller.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	if err == nil && len(body) > mostBytes {
		err = errors.New("the response is too large")
	}
	return &answer{response.StatusCode, response.Header, body}, err
}

var seconds = regexp.MustCompile(`^\d{1,6}$`)

func (client *Client) attempt(ctx context.Context, asked question) heard {
	asked.nonce = randomHex(18)
	given, err := client.send(ctx, asked)
	if err != nil {
		return heard{reason: "unreachable"}
	}
	var wait time.Duration
	if text := given.header("retry-after"); seconds.MatchString(text) {
		number, _ := strconv.Atoi(text)
		wait = time.Duration(number) * time.Second
	}
	// These statuses are never decisions, whatever the unsigned headers say.
	if given.status == http.StatusTooManyRequests || given.status >= 500 {
		return heard{reason: "unreachable", retryAfter: wait}
	}
	kid := keyIDOf(given)
	if kid == "" {
		return heard{reason: "untrusted", retryAfter: wait}
	}
	ring, err := client.ringFor(ctx, kid)
	if err != nil {
		return heard{reason: "unreachable", retryAfter: wait}
	}
	at := signedAt(asked, given, ring)
	if at == 0 {
		return heard{reason: "untrusted", retryAfter: wait}
	}
	if given.header("license-verdict") != "final" {
		return heard{reason: "unreachable", retryAfter: wait}
	}
	var said map[string]any
	// A body that is not a JSON object counts as empty.
	_ = json.Unmarshal(given.body, &said)
	return heard{answer: *given, said: said, seconds: at}
}

// ask retries until there is a decision or the patience is over. It respects Retry-After.
func (client *Client) ask(ctx context.Context, asked question) heard {
	deadline := time.Now().Add(client.patience)
	for pause := firstPause; ; pause *= 2 {
		outcome := client.attempt(ctx, asked)
		if outcome.reason == "" {
			return outcome
		}
		if pause > longestPause {
			pause = longestPause
		}
		// Random jitter keeps machines from retrying at the same time.
		wait := time.Duration(float64(pause) * (0.5 + rand.Float64()))
		if outcome.retryAfter > wait {
			wait = outcome.retryAfter
		}
		if time.Now().Add(wait).After(deadline) {
			return outcome
		}
		select {
		case <-ctx.Done():
			return outcome
		case <-time.After(wait):
		}
	}
}

// ringFor answers the trusted keys. An unknown key may be new, so it fetches them again. Pinned keys are never fetched.
func (client *Client) ringFor(ctx context.Context, kid string) (keyRing, error) {
	if client.pinned != nil {
		return ringOf(client.pinned), nil
	}
	if _, known := ringOf(client.trusted)[kid]; !known {
		target := "/.well-known/license-keys.json"
		if client.serviceProduct != "" {
			target += "?product=" + client.serviceProduct
		}
		given, err := client.send(ctx, question{method: http.MethodGet, target: target})
		if err != nil {
			return nil, err
		}
		var document struct {
			Keys []PublicKey `json:"keys"`
		}
		if given.status == http.StatusOK && json.Unmarshal(given.body, &document) == nil && len(document.Keys) > 0 {
			client.trusted = document.Keys
		}
	}
	return ringOf(client.trusted), nil
}
