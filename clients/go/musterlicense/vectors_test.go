package musterlicense

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
)

// vectors reads a file of the shared test vectors of the clients.
func vectors(t *testing.T, name string, into any) {
	text, err := os.ReadFile("../../vectors/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestCertificates(t *testing.T) { certificates(t, "certificates", ofLicense) }
func TestTrials(t *testing.T)       { certificates(t, "trials", ofTrial) }

func certificates(t *testing.T, name, kind string) {
	var file struct {
		PublicKeys []PublicKey
		Cases      []struct {
			Name, Certificate, MachineID, Outcome string
			NowSeconds                            int64
		}
	}
	vectors(t, name, &file)
	for _, one := range file.Cases {
		outcome := "valid"
		if read := readCertificate(one.Certificate, kind, ringOf(file.PublicKeys)); read == nil {
			outcome = "not_genuine"
		} else if !read.isOf(one.MachineID) {
			outcome = "other_machine"
		} else if one.NowSeconds >= read.exp {
			outcome = "ended"
		}
		if outcome != one.Outcome {
			t.Errorf("%s: %s instead of %s", one.Name, outcome, one.Outcome)
		}
	}
	t.Logf("%d cases", len(file.Cases))
}

func TestAirGap(t *testing.T) {
	var file struct {
		PublicKeys []PublicKey
		Requests   []struct {
			carried
			Name, Text string
		}
		Answers []struct {
			Name, Answer, Outcome, Certificate, Message string
			Request                                     carried
			IsFinal                                     *bool
		}
	}
	vectors(t, "air-gap", &file)
	payloadOf := func(text string) (found carried) {
		payload, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, "licreq1."))
		if err == nil {
			err = json.Unmarshal(payload, &found)
		}
		if err != nil {
			t.Error(err)
		}
		return found
	}
	for _, one := range file.Requests {
		if written := one.carried.text(); payloadOf(written) != payloadOf(one.Text) {
			t.Errorf("%s: %s", one.Name, written)
		}
	}
	for _, one := range file.Answers {
		said := answerTo(one.Request, one.Answer, ringOf(file.PublicKeys))
		if said.reason != one.Outcome || said.certificate != one.Certificate || said.isOwn != (one.IsFinal != nil) {
			t.Errorf("%s: %+v", one.Name, said)
		}
		if one.IsFinal != nil && (said.standing.IsFinal != *one.IsFinal || said.standing.Message != one.Message) {
			t.Errorf("%s: %+v", one.Name, said.standing)
		}
	}
	t.Logf("%d cases", len(file.Requests)+len(file.Answers))
}

func TestAnswers(t *testing.T) {
	var file struct {
		PublicKeys []PublicKey
		Cases      []struct {
			Name     string
			Question struct {
				Method, Target, Nonce string
				Body                  *string
			}
			Answer struct {
				Status  int
				Body    string
				Headers map[string]string
			}
			SignedAt *int64
		}
	}
	vectors(t, "answers", &file)
	for _, one := range file.Cases {
		asked := question{method: one.Question.Method, target: one.Question.Target, nonce: one.Question.Nonce}
		if one.Question.Body != nil {
			asked.body = []byte(*one.Question.Body)
		}
		headers := http.Header{}
		for name, value := range one.Answer.Headers {
			headers.Set(name, value)
		}
		var expected int64
		if one.SignedAt != nil {
			expected = *one.SignedAt
		}
		given := answer{one.Answer.Status, headers, []byte(one.Answer.Body)}
		if found := signedAt(asked, &given, ringOf(file.PublicKeys)); found != expected {
			t.Errorf("%s: %d instead of %d", one.Name, found, expected)
		}
	}
	t.Logf("%d cases", len(file.Cases))
}

func TestClock(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                       string
			Seen                       timeSeen
			ClockMillis, WrittenMillis float64
			Now                        *float64
		}
	}
	vectors(t, "clock", &file)
	for _, one := range file.Cases {
		now, isRight := timeNow(one.Seen, one.ClockMillis, one.WrittenMillis)
		if isRight != (one.Now != nil) || (isRight && now != *one.Now) {
			t.Errorf("%s: %f, %t", one.Name, now, isRight)
		}
	}
	t.Logf("%d cases", len(file.Cases))
}
