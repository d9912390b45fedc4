package musterlicense

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
)

// kept is the stored license. The client for Node uses the same file.
type kept struct {
	// The license key; nil for a trial.
	LicenseKey *string `json:"licenseKey"`
	// The certificate; nil after a refusal, so that the machine may not run until the service allows it.
	Certificate *string     `json:"certificate"`
	IsLent      bool        `json:"isLent"`
	PublicKeys  []PublicKey `json:"publicKeys"`
	Time        *timeSeen   `json:"time"`
}

func (client *Client) file() string { return filepath.Join(client.folder, "license.json") }

// read answers nil if nothing is stored or the file is damaged. The license must then be activated again.
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

// isOf answers true if the stored license has this key. A trial has no key.
func (own *kept) isOf(licenseKey string) bool {
	return own.LicenseKey != nil && sameKey(*own.LicenseKey, licenseKey)
}

func (client *Client) keep(own kept) error {
	if own.PublicKeys == nil {
		own.PublicKeys = []PublicKey{}
	}
	return client.put(client.file(), own)
}

// put replaces a file atomically. A process that is killed during the write leaves the old file.
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

// writtenMillis answers the time of the last write: the latest time of the file and its folder, because the time of a
// file can be changed. It answers 0 if there is no file.
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

// changedMillis answers the change time of the inode, which no program can set; 0 if the system has none. The name of the
// field differs between systems, so it is looked up by reflection.
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
