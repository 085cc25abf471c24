//go:build linux

package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// etcHosts is where every program looks a name up first.
const etcHosts = "/etc/hosts"

// hostsFile is a hosts file of the run's own, mounted over the machine's in the run's mount namespace alone: names of services
// outside lead to the hosts that relay to them.
type hostsFile struct {
	mu   sync.Mutex
	path string // "" while there is none
}

// add lets names lead to an address, before all that the machine's own file says of them.
func (f *hostsFile) add(dir, addr string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := os.ReadFile(etcHosts) // the run's own, if there is one
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("reading %s: %w", etcHosts, err)
	}
	line := addr + "\t" + strings.Join(names, " ") + "\n"
	path := filepath.Join(dir, "hosts")
	if err := os.WriteFile(path, append([]byte(line), text...), 0o644); err != nil {
		return err
	}
	if f.path != "" {
		return nil
	}
	if err := unix.Mount(path, etcHosts, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount names of the run over %s: %w", etcHosts, err)
	}
	f.path = path
	return nil
}

func (f *hostsFile) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path == "" {
		return nil
	}
	f.path = ""
	return unix.Unmount(etcHosts, unix.MNT_DETACH)
}
