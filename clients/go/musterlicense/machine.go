package musterlicense

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

var (
	machineFile = regexp.MustCompile(`^[0-9a-fA-F]{32}\s*$`)
	noMachine   = regexp.MustCompile(`^0+\s*$`)
	ioreg       = regexp.MustCompile(`(?i)"IOPlatformUUID"\s*=\s*"([0-9a-f-]{36})"`)
	registry    = regexp.MustCompile(`(?i)\bMachineGuid\s+REG_SZ\s+\{?([0-9a-f-]{36})\}?`)
)

func idIn(file string) string {
	text, err := os.ReadFile(file)
	if err != nil || !machineFile.Match(text) || noMachine.Match(text) {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(string(text)))
}

func idSaid(by *regexp.Regexp, program string, args ...string) (string, error) {
	said, err := exec.Command(program, args...).Output()
	if err != nil {
		return "", fmt.Errorf("the id of this machine cannot be read: %w", err)
	}
	found := by.FindSubmatch(said)
	if found == nil {
		return "", errors.New("the operating system does not report a machine id")
	}
	return strings.ToLower(string(found[1])), nil
}

// idOfSystem answers the ID of the operating system; "" if it has none.
func idOfSystem() (string, error) {
	switch runtime.GOOS {
	case "darwin":
		return idSaid(ioreg, "/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice")
	case "windows":
		root := os.Getenv("SystemRoot")
		if root == "" {
			root = `C:\Windows`
		}
		// A 32-bit program sees a different registry view unless it requests the 64-bit one.
		return idSaid(registry, filepath.Join(root, "System32", "reg.exe"),
			"query", `HKLM\SOFTWARE\Microsoft\Cryptography`, "/v", "MachineGuid", "/reg:64")
	}
	if id := idIn("/etc/machine-id"); id != "" {
		return id, nil
	}
	return idIn("/var/lib/dbus/machine-id"), nil
}

// idOfFolder creates a random ID once and stores it.
func idOfFolder(folder string) (string, error) {
	file := filepath.Join(folder, "machine-id")
	if id := idIn(file); id != "" {
		return id, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	made := randomHex(16)
	draft := file + "." + made
	if err := os.WriteFile(draft, []byte(made+"\n"), 0o600); err != nil {
		return "", err
	}
	defer os.Remove(draft)
	// Another process may create it at the same time. The first file wins, and it is complete.
	if err := os.Link(draft, file); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	if id := idIn(file); id != "" {
		return id, nil
	}
	return "", fmt.Errorf("%s has no id of a machine", file)
}

func machineIDOf(product, folder string) (string, error) {
	own, err := idOfSystem()
	if err == nil && own == "" {
		own, err = idOfFolder(folder)
	}
	if err != nil {
		return "", err
	}
	mark := hmac.New(sha256.New, []byte(own))
	mark.Write([]byte("license-client:" + product))
	return hex.EncodeToString(mark.Sum(nil)), nil
}

func randomHex(bytes int) string {
	data := make([]byte, bytes)
	if _, err := rand.Read(data); err != nil {
		panic(err)
	}
	return hex.EncodeToString(data)
}
