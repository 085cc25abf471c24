package clusters

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// plain keeps names usable as file names and as names of the field ("n1", "c12", "resource").
var plain = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

// CheckName refuses what cannot be the name of a host, or of a log or a data directory on one. kind is what it names.
func CheckName(kind, name string) error {
	if !plain.MatchString(name) {
		return fmt.Errorf("%s %q: a name is up to 31 of a-z, 0-9 and -, a letter first", kind, name)
	}
	return nil
}

// OpenLog opens a host's log of a name (Command.Log) below the directory of all logs. It appends: a host's restarted server
// goes on in the same log.
func OpenLog(dir, host, name string) (*os.File, error) {
	if err := CheckName("log", name); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, host, name+".log")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
}
