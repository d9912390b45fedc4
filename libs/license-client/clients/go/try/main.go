// A small program that is protected: try URL FOLDER [activate KEY | check | offline | release]. Says its standing as JSON.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"time"

	"program/musterlicense"
)

func main() {
	url, folder, what := os.Args[1], os.Args[2], os.Args[3]
	patience := time.Duration(0)
	licenses, err := musterlicense.New(musterlicense.Options{
		URL: url, Product: "license-demo", Folder: folder, Patience: &patience,
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
	}
	if err != nil {
		log.Fatal(err)
	}
	_ = json.NewEncoder(os.Stdout).Encode(standing)
	if !standing.MayRun {
		os.Exit(1)
	}
}
