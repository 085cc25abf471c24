package disk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// block is the size of the probe's files. It has one for each class, below probeDir, named after it: a write that stands still locks
// its file, and a sync of the same one would not even be asked for.
const block = 4096

// attempt is one request of the probe to make, and the answer.
type attempt struct {
	N     int           `json:"n"`
	Class Class         `json:"class"`
	Took  time.Duration `json:"took,omitempty"`
	Errno syscall.Errno `json:"errno,omitempty"` // 0 if it was carried out
	Said  string        `json:"said,omitempty"`  // of a power cut: what was not as it has to be
}

// serveProbe makes the requests that it reads, each for itself, until its input ends. It is a process of its own: one of its requests
// may stand still for as long as the fault lasts.
func serveProbe(mount string, in io.Reader, out io.Writer) error {
	var writing sync.Mutex
	answers, asked := json.NewEncoder(out), json.NewDecoder(in)
	for {
		var a attempt
		if err := asked.Decode(&a); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		go func() {
			began := time.Now()
			err := try(mount, a.Class)
			a.Took = time.Since(began)
			if err != nil {
				a.Said = err.Error()
			}
			if err != nil && !errors.As(err, &a.Errno) {
				a.Errno = unix.EPROTO
			}
			writing.Lock()
			defer writing.Unlock()
			_ = answers.Encode(a)
		}()
	}
}

func try(mount string, class Class) error {
	if do, ok := powerTries[class]; ok {
		return do(filepath.Join(mount, powerDir))
	}
	return tries[class](filepath.Join(mount, probeDir, string(class)))
}

// tries are what the probe does in each class. System calls as they are: Go's files wait for what they are told by the mount.
var tries = map[Class]func(path string) error{
	Reads: func(path string) error {
		return withFile(path, unix.O_RDONLY|unix.O_DIRECT, func(fd int, page []byte) error { // past the kernel's own copy
			n, err := unix.Pread(fd, page, 0)
			return whole(n, err)
		})
	},
	Writes: func(path string) error {
		return withFile(path, unix.O_WRONLY, func(fd int, page []byte) error {
			n, err := unix.Pwrite(fd, page, 0)
			return whole(n, err)
		})
	},
	Syncs: func(path string) error {
		return withFile(path, unix.O_WRONLY, func(fd int, _ []byte) error { return unix.Fdatasync(fd) })
	},
}

func whole(n int, err error) error {
	if err == nil && n != block {
		return unix.EMSGSIZE
	}
	return err
}

func withFile(path string, flags int, do func(fd int, page []byte) error) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	page, err := unix.Mmap(-1, 0, block, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON) // aligned, as O_DIRECT wants it
	if err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	err = do(fd, page)
	return errors.Join(err, unix.Munmap(page), unix.Close(fd))
}

// placeProbe makes the probe's files, in the data and not through the mount.
func placeProbe(data string) error {
	dir := filepath.Join(data, probeDir)
	for _, made := range []string{dir, filepath.Join(data, powerDir)} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return err
		}
	}
	for _, class := range Classes {
		if err := os.WriteFile(filepath.Join(dir, string(class)), make([]byte, block), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// probe is this end of the probe.
type probe struct {
	in  io.WriteCloser
	cmd *exec.Cmd

	mu      sync.Mutex
	last    int
	waiting map[int]chan attempt
}

// startProbe starts the probe. It has to be there before the first mount, of which it must not inherit anything.
func startProbe(mount string) (*probe, error) {
	p := &probe{waiting: map[int]chan attempt{}}
	p.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: []string{"lockcheck", Command, "--probe=" + mount}, Dir: "/", Stderr: os.Stderr, Env: os.Environ()}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the probe: %w", err)
	}
	go p.listen(out)
	return p, nil
}

func (p *probe) listen(out io.Reader) {
	for answers := json.NewDecoder(out); ; {
		var a attempt
		if err := answers.Decode(&a); err != nil {
			return
		}
		p.mu.Lock()
		answer := p.waiting[a.N]
		delete(p.waiting, a.N)
		p.mu.Unlock()
		if answer != nil {
			answer <- a
		}
	}
}

// ask has a request made.
func (p *probe) ask(class Class) (<-chan attempt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	answer := make(chan attempt, 1)
	p.waiting[p.last] = answer
	line, err := json.Marshal(attempt{N: p.last, Class: class})
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	return answer, err
}

// try has a request made and waits for its answer.
func (p *probe) try(ctx context.Context, class Class) (attempt, error) {
	answer, err := p.ask(class)
	if err != nil {
		return attempt{}, err
	}
	return await(ctx, class, answer)
}

func await(ctx context.Context, class Class, answer <-chan attempt) (attempt, error) {
	select {
	case a := <-answer:
		return a, nil
	case <-ctx.Done():
		return attempt{}, fmt.Errorf("%s of its own have no answer: %w", class, ctx.Err())
	}
}
