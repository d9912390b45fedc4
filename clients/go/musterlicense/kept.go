package musterlicense

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
)

// kept is what the machine keeps between starts; the client for Node reads and writes the same file.
type kept struct {
	// Nil of a trial, which has none.
	LicenseKey *string `json:"licenseKey"`
	// Nil after a refusal: from then on the machine may not run before the service has said so.
	Certificate *string     `json:"certificate"`
	IsLent      bool        `json:"isLent"`
	PublicKeys  []PublicKey `json:"publicKeys"`
	Time        *timeSeen   `json:"time"`
}

func (client *Client) file() string { return filepath.Join(client.folder, "license.json") }

// read answers nil where nothing is kept, or what is kept is damaged: then the license is activated anew.
func (client *Client) read() (*kept, error) {
	text, err := os.ReadFile(client.file())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found kept
	if json.Unmarshal(text, &found) != nil || (found.LicenseKey != nil && *found.LicenseKey == "") || found.Time == nil {
		return nil, nil
	}
	return &found, nil
}

// isOf answers whether what is kept is of this key; a trial is of none.
func (own *kept) isOf(licenseKey string) bool {
	return own.LicenseKey != nil && sameKey(*own.LicenseKey, licenseKey)
}

func (client *Client) keep(own kept) error {
	if own.PublicKeys == nil {
		own.PublicKeys = []PublicKey{}
	}
	return client.put(client.file(), own)
}

// put replaces a file as a whole: a process that is killed while it writes leaves it as it was.
func (client *Client) put(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(client.folder, 0o700); err != nil {
		return err
	}
	draft := fmt.Sprintf("%s.%d.%s", name, os.Getpid(), randomHex(4))
	defer os.Remove(draft)
	file, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(draft, name)
}

// writtenMillis answers when the license was last written, by the clock of then: the latest time of the file and its
// folder, since a file can be given another time. 0 where there is none.
func (client *Client) writtenMillis() float64 {
	latest := 0.0
	for _, name := range []string{client.file(), client.folder} {
		info, err := os.Stat(name)
		if err != nil {
			return 0
		}
		for _, millis := range []float64{float64(info.ModTime().UnixMilli()), changedMillis(info)} {
			if millis > latest {
				latest = millis
			}
		}
	}
	return latest
}

// changedMillis answers when the file's own record was changed, which no program sets; 0 where the system does not say.
// The field's name is the system's, so it is looked for in place of a file for each system.
func changedMillis(info os.FileInfo) float64 {
	record := reflect.Indirect(reflect.ValueOf(info.Sys()))
	if record.Kind() != reflect.Struct {
		return 0
	}
	for _, name := range []string{"Ctim", "Ctimespec"} {
		if time := record.FieldByName(name); time.IsValid() {
			return float64(time.FieldByName("Sec").Int())*1_000 + float64(time.FieldByName("Nsec").Int())/1_000_000
		}
	}
	return 0
}
