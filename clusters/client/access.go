package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// The options (Init.Options) that say what a service wants to see before it answers. Files are paths of this machine.
const (
	OptionTLS        = "tls" // "on": speak TLS
	OptionCA         = "tls_ca"
	OptionCert       = "tls_cert"
	OptionKey        = "tls_key"
	OptionServerName = "tls_server_name"
	OptionUsername   = "username"
	OptionPassword   = "password"

	// What part of the service is meant, where it has such parts.
	OptionDatabase  = "database"  // PostgreSQL's
	OptionNamespace = "namespace" // Kubernetes'
	OptionMaster    = "master"    // the name under which Redis' Sentinels watch a primary

	// OptionAttached is "yes" where others run the service: nothing is known of what is behind its endpoints.
	OptionAttached = "attached"
)

// Parts are the names of such parts, in options as in files.
var Parts = []string{OptionDatabase, OptionNamespace, OptionMaster}

// Access is what a service that others run wants to see before it answers. The zero Access is for one that asks nothing.
type Access struct {
	TLS        bool
	CA         string // PEM file with the certificates of who may sign; "" for those of the system
	Cert, Key  string // PEM files of a client's certificate; both or neither
	ServerName string // in the server's certificate; "" for the host of the endpoint
	Username   string
	Password   Secret
	Parts      map[string]string // of the service, by the names in Parts; those that are missing are ""
}

// Secret is a word that must not be shown: printing and marshalling it hide it.
type Secret struct{ word string }

// NewSecret hides a word.
func NewSecret(word string) Secret { return Secret{word} }

// Reveal is the word, for who has to hand it to a service.
func (s Secret) Reveal() string { return s.word }

// String tells only whether there is one.
func (s Secret) String() string {
	if s.word == "" {
		return ""
	}
	return "(secret)"
}

// GoString is String.
func (s Secret) GoString() string { return s.String() }

// MarshalText is String: no file gets the word.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Options are for Init.Options: they go to a client over its standard input, and nowhere else.
func (a Access) Options() map[string]string {
	options := map[string]string{}
	if a.TLS {
		options[OptionTLS] = "on"
	}
	for _, o := range []struct{ name, value string }{
		{OptionCA, a.CA}, {OptionCert, a.Cert}, {OptionKey, a.Key}, {OptionServerName, a.ServerName},
		{OptionUsername, a.Username}, {OptionPassword, a.Password.Reveal()},
	} {
		if o.value != "" {
			options[o.name] = o.value
		}
	}
	for _, part := range Parts {
		if name := a.Parts[part]; name != "" {
			options[part] = name
		}
	}
	return options
}

// Attached reports whether others run the service.
func (i Init) Attached() bool { return i.Options[OptionAttached] == "yes" }

// Access is what the options say of it.
func (i Init) Access() Access {
	o := i.Options
	parts := map[string]string{}
	for _, part := range Parts {
		parts[part] = o[part]
	}
	return Access{
		TLS: o[OptionTLS] == "on", CA: o[OptionCA], Cert: o[OptionCert], Key: o[OptionKey], ServerName: o[OptionServerName],
		Username: o[OptionUsername], Password: NewSecret(o[OptionPassword]), Parts: parts,
	}
}

// Config is for connections by TLS; nil without it. Errors name the file that cannot be used.
func (a Access) Config() (*tls.Config, error) {
	if !a.TLS {
		return nil, nil
	}
	config := &tls.Config{ServerName: a.ServerName, MinVersion: tls.VersionTLS12}
	if a.CA != "" {
		text, err := os.ReadFile(a.CA)
		if err != nil {
			return nil, fmt.Errorf("the file of CA certificates: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("the file of CA certificates %s has none in PEM", a.CA)
		}
	}
	switch {
	case a.Cert == "" && a.Key == "":
	case a.Cert == "" || a.Key == "":
		return nil, errors.New("a client's certificate needs its key, and a key its certificate")
	default:
		pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
		if err != nil {
			return nil, fmt.Errorf("the client's certificate %s with the key %s: %w", a.Cert, a.Key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
