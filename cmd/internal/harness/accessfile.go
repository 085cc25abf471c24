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

var accessNames = append([]string{
	clusters.WordCA, clusters.WordCert, clusters.WordKey, clusters.WordServerName, clusters.WordUsername, clusters.WordPasswordFile,
}, client.Parts...)

// readAccess reads what lets a client in. fit completes or refuses it, as a backend wants it. Mistakes have their places in the file. No
// error shows the password.
func readAccess(path string, environment func(string) string, fit func(client.Access) (client.Access, error)) (client.Access, error) {
	access := client.Access{Password: client.NewSecret(environment(clusters.EnvPassword))}
	if path == "" {
		return fit(access)
	}
	if err := regular(path); err != nil {
		return access, fmt.Errorf("--%s=%s: %w", clusters.FlagAttachConfig, path, err)
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
	access.CA, access.Cert, access.Key = file(clusters.WordCA), file(clusters.WordCert), file(clusters.WordKey)
	access.ServerName, access.Username = words.Word(clusters.WordServerName), words.Word(clusters.WordUsername)
	access.Parts = map[string]string{}
	for _, part := range client.Parts {
		access.Parts[part] = words.Word(part)
	}
	access.TLS = cmp.Or(access.CA, access.Cert, access.ServerName) != ""
	for _, name := range []string{clusters.WordCA, clusters.WordCert, clusters.WordKey, clusters.WordPasswordFile} {
		if file(name) == "" {
			continue
		}
		err := regular(file(name))
		if err == nil {
			_, err = os.ReadFile(file(name))
		}
		if err != nil {
			return access, words.Errorf(name, "%s: %v", name, unwrapped(err))
		}
	}
	switch {
	case access.Cert != "" && access.Key == "":
		return access, words.Errorf(clusters.WordCert, "a cert needs its key")
	case access.Key != "" && access.Cert == "":
		return access, words.Errorf(clusters.WordKey, "a key needs its cert")
	}
	if _, err := access.Config(); err != nil {
		return access, words.Errorf(blamed(access), "%v", err)
	}
	if path := file(clusters.WordPasswordFile); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return access, words.Errorf(clusters.WordPasswordFile, "%v", err)
		}
		access.Password = client.NewSecret(strings.TrimRight(string(text), "\r\n"))
		if access.Password.Reveal() == "" {
			return access, words.Errorf(clusters.WordPasswordFile, "password_file: %s is empty", path)
		}
	}
	fitted, err := fit(access)
	var misfit *clusters.Misfit
	if errors.As(err, &misfit) {
		return access, words.Errorf(misfit.Word, "%v", misfit)
	}
	return fitted, err
}

// asIs is the fit of a service that nothing is known of.
func asIs(access client.Access) (client.Access, error) { return access, nil }

// regular refuses what can be read once only, such as a pipe: a run is made by several processes, each of which reads the files.
func regular(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory: name the file in it", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: a pipe or a device is not read, because the run reads it more than once; write it into a file", path)
	}
	return nil
}

// blamed is the name of what made a configuration of TLS fail: the files are read in this order.
func blamed(access client.Access) string {
	if _, err := (client.Access{TLS: true, CA: access.CA}).Config(); err != nil {
		return clusters.WordCA
	}
	return clusters.WordCert
}

// unwrapped is what the system says of a file, which has the path in it.
func unwrapped(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	return err
}
