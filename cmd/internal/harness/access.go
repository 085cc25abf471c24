package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/reports/compare/config"
)

// The names in the file of --attach-config.
const (
	nameCA           = "ca"
	nameCert         = "cert"
	nameKey          = "key"
	nameServer       = "server_name"
	nameUser         = "username"
	namePasswordFile = "password_file"
)

var accessNames = []string{nameCA, nameCert, nameKey, nameServer, nameUser, namePasswordFile}

// readAccess reads what lets a client in. Mistakes have their places in the file. No error shows the password.
func readAccess(path string, environment func(string) string) (client.Access, error) {
	access := client.Access{Password: client.NewSecret(environment(clusters.EnvPassword))}
	if path == "" {
		return access, nil
	}
	words, err := config.ReadWords(path, accessNames)
	if err != nil {
		var mistake *config.Error
		if errors.As(err, &mistake) {
			return access, err
		}
		return access, fmt.Errorf("--%s=%s: %w", clusters.FlagAttachConfig, path, err)
	}
	file := func(name string) string {
		word := words.Word(name)
		if word == "" || filepath.IsAbs(word) {
			return word
		}
		return absolute(filepath.Join(filepath.Dir(path), word))
	}
	access.CA, access.Cert, access.Key = file(nameCA), file(nameCert), file(nameKey)
	access.ServerName, access.Username = words.Word(nameServer), words.Word(nameUser)
	access.TLS = cmp.Or(access.CA, access.Cert, access.ServerName) != ""
	for _, name := range []string{nameCA, nameCert, nameKey, namePasswordFile} {
		if file(name) == "" {
			continue
		}
		if _, err := os.ReadFile(file(name)); err != nil {
			return access, words.Errorf(name, "%s: %v", name, unwrapped(err))
		}
	}
	switch {
	case access.Cert != "" && access.Key == "":
		return access, words.Errorf(nameCert, "a cert needs its key")
	case access.Key != "" && access.Cert == "":
		return access, words.Errorf(nameKey, "a key needs its cert")
	}
	if _, err := access.Config(); err != nil {
		return access, words.Errorf(blamed(access), "%v", err)
	}
	if path := file(namePasswordFile); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return access, words.Errorf(namePasswordFile, "%v", err)
		}
		access.Password = client.NewSecret(strings.TrimRight(string(text), "\r\n"))
		if access.Password.Reveal() == "" {
			return access, words.Errorf(namePasswordFile, "password_file: %s is empty", path)
		}
	}
	if access.Username != "" && access.Password.Reveal() == "" {
		return access, words.Errorf(nameUser, "username %s has no password: name a password_file, or set %s", access.Username, clusters.EnvPassword)
	}
	return access, nil
}

// blamed is the name of what made a configuration of TLS fail: the files are read in this order.
func blamed(access client.Access) string {
	if _, err := (client.Access{TLS: true, CA: access.CA}).Config(); err != nil {
		return nameCA
	}
	return nameCert
}

// unwrapped is what the system says of a file, which has the path in it.
func unwrapped(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	return err
}
