// A small licensed program: try URL FOLDER and activate KEY, check, offline, release, trial, request KEY or answer FILE.
// It prints its license state as JSON. LICENSE_KEYS names a file with public keys of the service to pin.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"program/musterlicense"
)

// pinned answers the keys of the file LICENSE_KEYS; nil if the variable is not set.
func pinned() []musterlicense.PublicKey {
	name := os.Getenv("LICENSE_KEYS")
	if name == "" {
		return nil
	}
	var document struct {
		Keys []musterlicense.PublicKey `json:"keys"`
	}
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		log.Fatal(err)
	}
	return document.Keys
}

func main() {
	url, folder, what := os.Args[1], os.Args[2], os.Args[3]
	patience := time.Duration(0)
	licenses, err := musterlicense.New(musterlicense.Options{
		URL: url, Product: "license-demo", Folder: folder, Patience: &patience, PublicKeys: pinned(),
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	var standing musterlicense.Standing
	switch what {
	case "activate":
		standing, err = licenses.Activate(ctx, os.Args[4])
	case "check":
		standing, err = licenses.Check(ctx)
	case "offline":
		standing, err = licenses.CheckOffline()
	case "release":
		standing, err = licenses.Release(ctx)
	case "trial":
		standing, err = licenses.Trial(ctx)
	case "request":
		text, err := licenses.RequestOffline(os.Args[4])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(text)
		return
	case "answer":
		answer, failed := os.ReadFile(os.Args[4])
		if failed != nil {
			log.Fatal(failed)
		}
		standing, err = licenses.AcceptOffline(string(answer))
	}
	if err != nil {
		log.Fatal(err)
	}
	_ = json.NewEncoder(os.Stdout).Encode(standing)
	if !standing.MayRun {
		os.Exit(1)
	}
}
