//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/disk"
)

// mountTimeout bounds how long a disk may take to be there.
const mountTimeout = 10 * time.Second

// disksDir is where disks keep what is on them, beside the hosts' directories: no host has a name with a dot.
const disksDir = ".disks"

// limboDir is where they keep what has no name any more and would have one again after a power cut.
const limboDir = ".limbo"

// hostDisk is the disk of one data directory.
type hostDisk struct {
	*disk.Disk
	name      string // of the data directory
	dir, data string // where it is mounted, and where what is on it lies
}

var _ clusters.Disked = (*host)(nil)

// canMount is why no disk that faults can hit can be put under a host's data; nil if one can.
func (p *Provider) canMount() error {
	if !p.inside {
		return fmt.Errorf("%w: faults of disks mount a file system, which is never done among the machine's own mounts: %s", clusters.ErrUnavailable, p.reason)
	}
	if err := disk.Available(); err != nil {
		return fmt.Errorf("%w: %w", clusters.ErrUnavailable, err)
	}
	return nil
}

// Disks are those that are mounted.
func (h *host) Disks() (all []*disk.Disk) {
	h.diskMu.Lock()
	defer h.diskMu.Unlock()
	for _, d := range h.disks {
		all = append(all, d.Disk)
	}
	return all
}

// disk is that of a data directory, nil if it has none.
func (h *host) disk(name string) *hostDisk {
	h.diskMu.Lock()
	defer h.diskMu.Unlock()
	return h.diskNamed(name)
}

func (h *host) diskNamed(name string) *hostDisk {
	for _, d := range h.disks {
		if d.name == name {
			return d
		}
	}
	return nil
}

// mounted returns the data directory, with its disk mounted over it.
func (h *host) mounted(name string) (string, error) {
	h.diskMu.Lock()
	defer h.diskMu.Unlock()
	if d := h.diskNamed(name); d != nil {
		return d.dir, nil
	}
	d := &hostDisk{name: name, dir: filepath.Join(h.site.data, h.name, name), data: filepath.Join(h.site.data, disksDir, h.name, name)}
	err := errors.Join(os.MkdirAll(d.dir, 0o700), os.MkdirAll(d.data, 0o700))
	if err == nil {
		err = h.mount(d)
	}
	if err != nil {
		return "", fmt.Errorf("disk %s of host %s: %w", name, h.name, err)
	}
	return d.dir, nil
}

// mount starts the process that serves the disk. It ends with the site, before anything else is waited for.
func (h *host) mount(d *hostDisk) error {
	ctx, cancel := context.WithTimeout(context.Background(), mountTimeout)
	defer cancel()
	args := []string{disk.Command, "--dir=" + d.dir, "--data=" + d.data}
	if h.site.powerCuts {
		args = append(args, "--limbo="+filepath.Join(h.site.data, limboDir, h.name, d.name))
	}
	p, err := h.start(ctx, clusters.Command{Args: args, Log: disk.Command, Pipes: true})
	if err != nil {
		return err
	}
	h.disks = append(h.disks, d) // it may be mounted, also after an error
	d.Disk, err = disk.Open(ctx, h.name, p.Stdin(), p.Stdout())
	return err
}

// detach takes the mounts away. The processes that serve them have ended.
func (h *host) detach() (err error) {
	h.diskMu.Lock()
	defer h.diskMu.Unlock()
	for _, d := range h.disks {
		err = errors.Join(err, disk.Detach(d.dir))
	}
	return err
}

// past is where a path below a data directory is reached without its disk: this process may never wait for one, because a
// process that dies while it does keeps its descriptors, and the mount its requests.
func (h *host) past(name, dir, path string) string {
	d := h.disk(name)
	if d == nil {
		return path
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return filepath.Join(d.data, rel)
}
