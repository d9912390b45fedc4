// Package musterlicense is a license client for one program on one machine, in Go 1.19 and newer. It needs only the
// standard library.
//
//	licenses, err := musterlicense.New(musterlicense.Options{URL: "https://licenses.example.com", Product: "my-program"})
//	standing, err := licenses.Activate(ctx, key) // once, after the purchase
//	standing, err := licenses.Check(ctx)         // at each start
//	standing, err := licenses.Trial(ctx)         // or a trial without a key
//	if err != nil || !standing.MayRun {
//		log.Fatal(standing.Message, err)
//	}
//
// It trusts only answers that are signed for its own request. Everything else counts as an outage, and then the stored
// certificate decides. It uses the same file as the client for Node, so a program may use both.
package musterlicense

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Client is the license client of one program on one machine. Its methods are safe for concurrent use. An error means
// that this machine failed (its disk or its ID), and that the program may not run.
type Client struct {
	base, product, serviceProduct, folder string
	pinned                                []PublicKey
	patience                              time.Duration

	lock      sync.Mutex
	machineID string
	// The fetched or stored keys.
	trusted []PublicKey
}

// MachineID answers the machine ID that the service knows.
func (client *Client) MachineID() (string, error) {
	client.lock.Lock()
	defer client.lock.Unlock()
	own, err := client.own()
	return own, err
}

func (client *Client) own() (id string, err error) {
	if client.machineID == "" {
		client.machineID, err = machineIDOf(client.product, client.folder)
	}
	return client.machineID, err
}

// open reads the stored license and the machine ID.
func (client *Client) open() (*kept, error) {
	if _, err := client.own(); err != nil {
		return nil, err
	}
	own, err := client.read()
	if own != nil && client.pinned == nil && len(client.trusted) == 0 {
		client.trusted = own.PublicKeys
	}
	return own, err
}

func isNoAnswer(reason string) bool { return reason == "unreachable" || reason == "untrusted" }

// sameKey compares two keys as leniently as the service parses them.
func sameKey(one, other string) bool { return bare(one) == bare(other) }

var (
	noSymbols = regexp.MustCompile(`[^0-9A-Za-z]`)
	alike     = strings.NewReplacer("O", "0", "I", "1", "L", "1")
)

func bare(key string) string {
	symbols := alike.Replace(strings.ToUpper(noSymbols.ReplaceAllString(key, "")))
	// Drop the five-symbol prefix of the product, which people need not type.
	if len(symbols) > 25 {
		return symbols[len(symbols)-25:]
	}
	return symbols
}

// Activate activates a license on this machine. Without an answer, the stored license counts if it has this key.
func (client *Client) Activate(ctx context.Context, licenseKey string) (Standing, error) {
	client.lock.Lock()
	defer client.lock.Unlock()
	own, err := client.open()
	if err != nil {
		return Standing{}, err
	}
	standing, err := client.activate(ctx, own, licenseKey)
	if err != nil || !isNoAnswer(standing.Reason) || own == nil || !own.isOf(licenseKey) {
		return standing, err
	}
	return client.without(own, standing), nil
}

// Check checks the license with the service or, without an answer, by the certificate.
func (client *Client) Check(ctx context.Context) (Standing, error) {
	client.lock.Lock()
	defer client.lock.Unlock()
	own, err := client.open()
	if err != nil || own == nil {
		return no("no_license", true), err
	}
	return client.check(ctx, own)
}

func (client *Client) check(ctx context.Context, own *kept) (Standing, error) {
	if own.LicenseKey == nil {
		return client.try(ctx, own)
	}
	query := url.Values{"licenseKey": {*own.LicenseKey}, "machineId": {client.machineID}}.Encode()
	answer := client.ask(ctx, question{method: http.MethodGet, target: "/api/activate/check?" + query})
	if answer.reason != "" {
		return client.without(own, no(answer.reason, false)), nil
	}
	isValid, _ := answer.said["valid"].(bool)
	if answer.status == http.StatusOK && isValid {
		return client.renewed(ctx, own, &answer)
	}
	client.drop(own, &answer)
	if answer.status != http.StatusOK {
		return refusalIn(&answer), nil
	}
	if own.IsLent {
		// The slot lease has expired. Activate again to get another slot or the reason of the refusal.
		return client.activate(ctx, own, *own.LicenseKey)
	}
	reason, known := reasons[answer.header("license-state")]
	if !known {
		reason = "refused"
	}
	return no(reason, true), nil
}

// CheckOffline checks the license by the certificate alone, without asking the service.
func (client *Client) CheckOffline() (Standing, error) {
	client.lock.Lock()
	defer client.lock.Unlock()
	own, err := client.open()
	if err != nil {
		return Standing{}, err
	}
	return client.byCertificate(own), nil
}

// Release releases the license for another machine. The reason is "released" or that of a refusal.
func (client *Client) Release(ctx context.Context) (Standing, error) {
	client.lock.Lock()
	defer client.lock.Unlock()
	own, err := client.open()
	if err != nil || own == nil || own.LicenseKey == nil {
		return no("no_license", true), err
	}
	answer := client.ask(ctx, client.post("/api/activate/release", *own.LicenseKey))
	if answer.reason != "" {
		return no(answer.reason, false), nil
	}
	if answer.status != http.StatusOK {
		refusal := refusalIn(&answer)
		// After exhausted transfers this machine may keep the license. After any other refusal nothing is kept.
		if refusal.Reason != "transfers_exhausted" {
			client.drop(own, &answer)
		}
		return refusal, nil
	}
	if _, isMine := client.licenseIn(&answer, *own.LicenseKey); !isMine {
		return no("untrusted", false), nil
	}
	_ = os.Remove(client.requestFile())
	if err := os.Remove(client.file()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Standing{}, err
	}
	return no("released", true), nil
}

// Trial starts the trial of this machine or continues it. Each machine has only one. If a license was activated here, it
// answers the same as Check.
func (client *Client) Trial(ctx context.Context) (Standing, error) {
	client.lock.Lock()
	defer client.lock.Unlock()
	own, err := client.open()
	if err != nil {
		return Standing{}, err
	}
	if own != nil {
		return client.check(ctx, own)
	}
	return client.try(ctx, nil)
}

func (client *Client) try(ctx context.Context, own *kept) (Standing, error) {
	body, _ := json.Marshal(map[string]string{"machineId": client.machineID})
	answer := client.ask(ctx, question{method: http.MethodPost, target: "/api/trials", body: body})
	if answer.reason != "" {
		return client.without(own, no(answer.reason, false)), nil
	}
	if answer.status != http.StatusOK {
		if own != nil {
			client.drop(own, &answer)
		}
		return refusalIn(&answer), nil
	}
	trial, _ := answer.said["trial"].(map[string]any)
	text := answer.header("license-certificate")
	one := readCertificate(text, ofTrial, client.ring())
	if trial["machineId"] != client.machineID || one == nil || !one.isOf(client.machineID) {
		return no("untrusted", false), nil
	}
	if err := client.keep(kept{nil, &text, false, client.toKeep(), timeOf(&answer)}); err != nil {
		return Standing{}, err
	}
	return yes("service", one.plan, one), nil
}

func (client *Client) post(target, licenseKey string) question {
	// Strings can always be encoded as JSON.
	body, _ := json.Marshal(map[string]string{"licenseKey": licenseKey, "machineId": client.machineID})
	return question{method: http.MethodPost, target: target, body: body}
}

func (client *Client) activate(ctx context.Context, own *kept, licenseKey string) (Standing, error) {
	answer := client.ask(ctx, client.post("/api/activate", licenseKey))
	if answer.reason != "" {
		return no(answer.reason, false), nil
	}
	if answer.status != http.StatusOK {
		if own != nil && own.isOf(licenseKey) {
			client.drop(own, &answer)
		}
		return refusalIn(&answer), nil
	}
	license, isMine := client.licenseIn(&answer, licenseKey)
	text := answer.header("license-certificate")
	one := readCertificate(text, ofLicense, client.ring())
	// An approval of this request has all three. Otherwise the answer is for another request.
	if !isMine || one == nil || !one.isOf(client.machineID) {
		return no("untrusted", false), nil
	}
	key, _ := license["key"].(string)
	plan, _ := license["plan"].(string)
	err := client.keep(kept{&key, &text, one.isLent, client.toKeep(), timeOf(&answer)})
	if err != nil {
		return Standing{}, err
	}
	return yes("service", plan, one), nil
}

// licenseIn answers the license of an answer if it is for this key and this machine.
func (client *Client) licenseIn(answer *heard, licenseKey string) (map[string]any, bool) {
	license, _ := answer.said["license"].(map[string]any)
	key, hasKey := license["key"].(string)
	return license, hasKey && sameKey(key, licenseKey) && license["machineId"] == client.machineID
}

// renewed stores the approval of the service, and renews the certificate after half of its validity.
func (client *Client) renewed(ctx context.Context, own *kept, answer *heard) (Standing, error) {
	one := client.certificateIn(own)
	if one != nil && !one.isOf(client.machineID) {
		one = nil
	}
	if one == nil || 2*(one.exp-answer.seconds) < one.exp-one.iat {
		standing, err := client.activate(ctx, own, *own.LicenseKey)
		if err != nil || !isNoAnswer(standing.Reason) {
			return standing, err
		}
	}
	client.keepIfPossible(*own, answer)
	plan, _ := answer.said["plan"].(string)
	return yes("service", plan, one), nil
}

// certificateIn answers the stored certificate of the license or trial; nil if there is no genuine one.
func (client *Client) certificateIn(own *kept) *certificate {
	if own.Certificate == nil {
		return nil
	}
	if own.LicenseKey == nil {
		return readCertificate(*own.Certificate, ofTrial, client.ring())
	}
	return readCertificate(*own.Certificate, ofLicense, client.ring())
}

// byCertificate checks the license by the certificate alone.
func (client *Client) byCertificate(own *kept) Standing {
	if own == nil || own.Certificate == nil {
		return no("no_license", true)
	}
	one := client.certificateIn(own)
	if one == nil {
		return no("certificate_not_genuine", false)
	}
	if !one.isOf(client.machineID) {
		return no("certificate_of_another_machine", false)
	}
	seen := *own.Time
	if begun := float64(one.iat) * 1_000; begun > seen.LatestMillis {
		seen.LatestMillis = begun
	}
	now, isRight := timeNow(seen, float64(time.Now().UnixMilli()), client.writtenMillis())
	if !isRight {
		return no("clock_turned_back", false)
	}
	if now > own.Time.LatestMillis {
		next := *own
		next.Time = &timeSeen{own.Time.AheadMillis, now}
		// A full disk must not stop a program that may run.
		_ = client.keep(next)
	}
	if now >= float64(one.exp)*1_000 {
		return no("certificate_ended", false)
	}
	return yes("certificate", one.plan, one)
}

// without handles an outage: the stored license counts, and without one the outage is answered.
func (client *Client) without(own *kept, outcome Standing) Standing {
	if standing := client.byCertificate(own); standing.Reason != "no_license" {
		return standing
	}
	return outcome
}

// drop drops the license after a refusal, so that only the service can allow it again. A failed write changes nothing
// in that.
func (client *Client) drop(own *kept, answer *heard) {
	next := *own
	next.Certificate = nil
	client.keepIfPossible(next, answer)
	// Earlier answers are invalid after a refusal.
	_ = os.Remove(client.requestFile())
}

func (client *Client) keepIfPossible(own kept, answer *heard) {
	own.PublicKeys, own.Time = client.toKeep(), timeOf(answer)
	_ = client.keep(own)
}

func timeOf(answer *heard) *timeSeen {
	heardAt := float64(answer.seconds) * 1_000
	return &timeSeen{heardAt - float64(time.Now().UnixMilli()), heardAt}
}

func (client *Client) toKeep() []PublicKey {
	if client.pinned != nil {
		return nil
	}
	return client.trusted
}

func (client *Client) ring() keyRing {
	if client.pinned != nil {
		return ringOf(client.pinned)
	}
	return ringOf(client.trusted)
}
