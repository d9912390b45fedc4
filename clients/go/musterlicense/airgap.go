package musterlicense

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Activation of offline machines: people carry a request to the seller of the license and the answer back. The answer is
// valid only for the nonce, the key and the machine of its request.

type carried struct {
	LicenseKey string `json:"licenseKey"`
	MachineID  string `json:"machineId"`
	Nonce      string `json:"nonce"`
}

func (asked carried) text() string {
	// Strings can always be encoded as JSON.
	payload, _ := json.Marshal(asked)
	return "licreq1." + base64.RawURLEncoding.EncodeToString(payload)
}

// verdict is the content of an answer. Its reason is "granted" or that of a refusal.
type verdict struct {
	reason string
	// The service itself refused this request.
	isOwn    bool
	standing Standing
	// Set if the reason is "granted".
	licenseKey, certificate string
	one                     *certificate
	seconds                 int64
}

func foreign(reason string) verdict { return verdict{reason: reason, standing: no(reason, false)} }

func answerTo(asked carried, text string, ring keyRing) verdict {
	said := readSigned(strings.TrimSpace(text), "licans1", ring)
	seconds, hasTime := wholeIn(said["iat"])
	if !hasTime {
		return foreign("untrusted")
	}
	key, hasKey := said["licenseKey"].(string)
	if said["nonce"] != asked.Nonce || said["machine"] != markOf(asked.MachineID) || !hasKey || !sameKey(key, asked.LicenseKey) {
		return foreign("answer_of_another_request")
	}
	if reason, isRefusal := said["reason"].(string); isRefusal {
		standing := no(reason, said["retryable"] != true)
		if message, isText := said["message"].(string); isText {
			standing.Message = message
		}
		return verdict{reason: reason, isOwn: true, standing: standing}
	}
	granted, _ := said["certificate"].(string)
	one := readCertificate(granted, ofLicense, ring)
	if one == nil || !one.isOf(asked.MachineID) {
		return foreign("untrusted")
	}
	return verdict{reason: "granted", licenseKey: key, certificate: granted, one: one, seconds: seconds}
}

// keptRequest is the last request. Its answer may be accepted again, which changes nothing.
type keptRequest struct {
	LicenseKey string `json:"licenseKey"`
	Nonce      string `json:"nonce"`
	IsAnswered bool   `json:"isAnswered"`
}

func (client *Client) requestFile() string { return filepath.Join(client.folder, "request.json") }

// readRequest answers nil if there is no request, or if it was refused since.
func (client *Client) readRequest() (*keptRequest, error) {
	text, err := os.ReadFile(client.requestFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found keptRequest
	if json.Unmarshal(text, &found) != nil || found.LicenseKey == "" || found.Nonce == "" {
		return nil, nil
	}
	return &found, nil
}

// RequestOffline makes the activation request of an offline machine, a text that people carry to the seller, who answers
// it. A new request replaces the previous one. It needs PublicKeys to verify the answer.
func (client *Client) RequestOffline(licenseKey string) (string, error) {
	client.lock.Lock()
	defer client.lock.Unlock()
	if _, err := client.open(); err != nil {
		return "", err
	}
	asked := carried{licenseKey, client.machineID, randomHex(18)}
	return asked.text(), client.put(client.requestFile(), keptRequest{licenseKey, asked.Nonce, false})
}

// AcceptOffline accepts the answer to the request. Accepting it again changes nothing.
func (client *Client) AcceptOffline(answer string) (Standing, error) {
	client.lock.Lock()
	defer client.lock.Unlock()
	own, err := client.open()
	if err != nil {
		return Standing{}, err
	}
	asked, err := client.readRequest()
	if err != nil || asked == nil {
		return no("answer_of_another_request", false), err
	}
	said := answerTo(carried{asked.LicenseKey, client.machineID, asked.Nonce}, answer, client.ring())
	isKept := own != nil && own.isOf(asked.LicenseKey)
	if said.reason != "granted" {
		if said.isOwn && isKept {
			next := *own
			next.Certificate = nil
			if err := client.keep(next); err != nil {
				return said.standing, err
			}
			return said.standing, os.Remove(client.requestFile())
		}
		return said.standing, nil
	}
	// The time of the answer counts from its first acceptance, so accepting it again must not reset the clock.
	if !(asked.IsAnswered && isKept) {
		made := float64(said.seconds) * 1_000
		ahead := made - float64(time.Now().UnixMilli())
		if ahead < 0 {
			ahead = 0
		}
		next := kept{&said.licenseKey, &said.certificate, said.one.isLent, client.toKeep(), &timeSeen{ahead, made}}
		if err := client.keep(next); err != nil {
			return Standing{}, err
		}
		if err := client.put(client.requestFile(), keptRequest{asked.LicenseKey, asked.Nonce, true}); err != nil {
			return Standing{}, err
		}
		if own, err = client.read(); err != nil {
			return Standing{}, err
		}
	}
	return client.byCertificate(own), nil
}
