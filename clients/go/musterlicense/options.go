package musterlicense

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// Options are the settings of a client.
type Options struct {
	// The URL of the license service, such as https://licenses.example.com.
	URL string
	// The name of the program. It is part of the machine ID, so with another name every machine is a new one.
	Product string
	// The product at a service with several products.
	ServiceProduct string
	// The folder of the stored license. By default it is in the user's folder for program state.
	Folder string
	// Public keys of the service to pin. By default they are fetched over https and stored.
	PublicKeys []PublicKey
	// The time to retry while the service does not answer, plus one more attempt; 10 seconds if nil.
	Patience *time.Duration
	// Replaces the machine ID if something else holds the license, such as a device or an account.
	MachineID string
}

var (
	host           = regexp.MustCompile(`^(localhost|127(\.\d+){3}|::1)$`)
	program        = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	productThere   = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]{0,63})?$`)
	usualPatience  = 10 * time.Second
	errUsualFolder = errors.New("the user's home folder is not known: say Folder")
)

func usualFolder(product string) (string, error) {
	home, err := os.UserHomeDir()
	place := os.Getenv("XDG_STATE_HOME")
	switch runtime.GOOS {
	case "windows":
		place = os.Getenv("LOCALAPPDATA")
		if place == "" {
			place = filepath.Join(home, "AppData", "Local")
		}
	case "darwin":
		place = filepath.Join(home, "Library", "Application Support")
	default:
		if place == "" {
			place = filepath.Join(home, ".local", "state")
		} else {
			err = nil
		}
	}
	if err != nil {
		return "", errUsualFolder
	}
	return filepath.Join(place, product), nil
}

// New validates the options and creates a client.
func New(options Options) (*Client, error) {
	where, err := url.Parse(options.URL)
	if err != nil || (where.Scheme != "https" && where.Scheme != "http") || where.Host == "" ||
		strings.Trim(where.Path, "/") != "" || where.RawQuery != "" {
		return nil, errors.New("URL must name a host by http or https, and no path")
	}
	if where.Scheme == "http" && !host.MatchString(where.Hostname()) && options.PublicKeys == nil {
		return nil, errors.New("URL must be of https, unless PublicKeys are given")
	}
	if !program.MatchString(options.Product) || !productThere.MatchString(options.ServiceProduct) {
		return nil, errors.New("Product and ServiceProduct must be names of letters, digits and . _ -")
	}
	if options.PublicKeys != nil && (len(options.PublicKeys) == 0 || len(ringOf(options.PublicKeys)) != len(options.PublicKeys)) {
		return nil, errors.New("PublicKeys must be Ed25519 keys as /.well-known/license-keys.json has them")
	}
	folder := options.Folder
	if folder == "" {
		if folder, err = usualFolder(options.Product); err != nil {
			return nil, err
		}
	}
	patience := usualPatience
	if options.Patience != nil {
		patience = *options.Patience
	}
	return &Client{
		base: where.Scheme + "://" + where.Host, product: options.Product, serviceProduct: options.ServiceProduct,
		folder: folder, pinned: options.PublicKeys, patience: patience, machineID: options.MachineID,
	}, nil
}
