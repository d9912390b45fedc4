package musterlicense

import "fmt"

// Standing is the license state: may the program run, on which basis, and with which features.
type Standing struct {
	MayRun bool
	// A message for people.
	Message string
	// "active" or the reason of a refusal: "license_revoked", "active_on_another_machine", "certificate_ended", "unreachable", …
	Reason string
	// True if the service has refused. Otherwise the program may ask again.
	IsFinal bool
	// The basis: "service" or "certificate".
	By   string
	Plan string
	// True for a trial without a key.
	IsTrial bool
	// The end of offline use, in seconds since 1970; 0 if the program may not run.
	OfflineUntil int64
	// The features of the license: true, false or a number.
	Features map[string]any
}

// Has answers true if a feature is on or its number is positive.
func (standing Standing) Has(feature string) bool {
	if number, isNumber := standing.Limit(feature); isNumber {
		return number > 0
	}
	isOn, _ := standing.Features[feature].(bool)
	return isOn
}

// Limit answers the number of a feature; false if the license has no number for it.
func (standing Standing) Limit(feature string) (int64, bool) {
	return wholeIn(standing.Features[feature])
}

var messages = map[string]string{
	"no_license":                     "No license was activated on this machine.",
	"unreachable":                    "The license service does not answer.",
	"untrusted":                      "What answered was not the license service.",
	"certificate_not_genuine":        "The certificate of this machine is not genuine.",
	"certificate_of_another_machine": "The certificate is of another machine.",
	"certificate_ended":              "The certificate has ended, and the license service does not answer.",
	"clock_turned_back":              "The clock of this machine was turned back.",
	"trial_ended":                    "The trial on this machine has ended.",
	"answer_of_another_request":      "The response does not belong to a request of this machine, or it is outdated.",
	"not_activated":                  "This license is not active on this machine.",
	"active_on_another_machine":      "This license is active on another machine.",
	"license_expired":                "This license has expired.",
	"license_suspended":              "This license is suspended.",
	"license_revoked":                "This license was revoked.",
	"refused":                        "The license service refused this license.",
	"released":                       "The license was given back.",
}

var reasons = map[string]string{
	"unactivated": "not_activated", "other_machine": "active_on_another_machine", "expired": "license_expired",
	"suspended": "license_suspended", "revoked": "license_revoked",
}

func no(reason string, isFinal bool) Standing {
	message, known := messages[reason]
	if !known {
		message = messages["refused"]
	}
	return Standing{Reason: reason, IsFinal: isFinal, Message: message}
}

func yes(by, plan string, one *certificate) Standing {
	standing := Standing{MayRun: true, Reason: "active", By: by, Plan: plan, Message: fmt.Sprintf("Licensed, plan %s, by the %s.", plan, by)}
	if one != nil {
		standing.OfflineUntil, standing.Features, standing.IsTrial = one.exp, one.features, one.isOfTrial
	}
	return standing
}

func refusalIn(answer *heard) Standing {
	details, _ := answer.said["details"].(map[string]any)
	reason, isText := details["reason"].(string)
	if !isText {
		reason = "refused"
	}
	standing := no(reason, details["retryable"] != true)
	if message, isText := answer.said["message"].(string); isText {
		standing.Message = message
	}
	return standing
}
