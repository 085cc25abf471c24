package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lockcheck/checker/history"
)

// AttachedFile is there while there may be something of the run at a service that others run: from before the first write to after
// the last removal.
const AttachedFile = "attached.json"

// Attached is what a run has, or may have, at a service that others run.
type Attached struct {
	Backend string           `json:"backend"`
	Keys    []string         `json:"keys"` // the names of all locks
	Service history.Attached `json:"service"`
}

// Remember notes what the run is about to write at a service. It is on the disk when it returns.
func (d *Dir) Remember(what Attached) error {
	text, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(d.path, AttachedFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err == nil {
		_, err = file.Write(append(text, '\n'))
		err = errors.Join(err, file.Sync(), file.Close())
	}
	if err != nil {
		return fmt.Errorf("cannot note what the run will write at the service: %w", err)
	}
	return nil
}

// Forget says that nothing is there any more.
func (d *Dir) Forget() error { return os.Remove(filepath.Join(d.path, AttachedFile)) }

// Remembered is what was noted in a run directory; nil if nothing is at any service.
func Remembered(dir string) (*Attached, error) {
	path := filepath.Join(dir, AttachedFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var what Attached
	if err := json.Unmarshal(text, &what); err != nil {
		return nil, inputErrorf("%s: %w", path, err)
	}
	return &what, nil
}

// ForgetAt is Forget of a run that was killed.
func ForgetAt(dir string) error { return os.Remove(filepath.Join(dir, AttachedFile)) }
