//go:build linux

package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Abilities tries them in a process of their own, as a run would have them: in its namespaces where those are allowed.
func Abilities(ctx context.Context) ([]Ability, error) {
	probe := exec.CommandContext(ctx, selfPath, AbilitiesCommand)
	var said, complained bytes.Buffer
	probe.Stdout, probe.Stderr = &said, &complained
	if err := probe.Run(); err != nil {
		return nil, fmt.Errorf("trying what this machine can do: %w: %s", err, bytes.TrimSpace(complained.Bytes()))
	}
	var all []Ability
	if err := json.Unmarshal(said.Bytes(), &all); err != nil {
		return nil, fmt.Errorf("trying what this machine can do: %w", err)
	}
	return all, nil
}

// TellAbilities tries and prints them. It returns false in the outer process, whose inner one did it, with that one's
// exit code. Others add what they can try. With wait it only reads its standard input to the end: to be traced by the one that tries.
func TellAbilities(wait bool, out io.Writer, more ...Trial) (bool, int, error) {
	if wait {
		_, err := io.Copy(io.Discard, os.Stdin)
		return true, 0, err
	}
	provider, code, err := Enter()
	if err != nil || provider == nil {
		return false, code, err
	}
	tries := map[string]func() error{
		AbilityNamespaces: func() error { return because(provider.inside, provider.reason) },
		"nftables":        func() error { return tryNftables(provider.inside) },
		"tbf":             func() error { return tryTBF(provider.inside) },
		"ptrace":          tryPtrace,
		"vdso":            tryVDSO,
		"fuse":            provider.canMount,
		"schedstat":       trySchedstat,
	}
	var all []Ability
	for _, known := range KnownAbilities {
		a := Ability{Name: known.Name, Found: known.Works}
		if err := tries[known.Name](); err != nil {
			a.Found, a.Missing = "", err.Error()
		}
		all = append(all, a)
	}
	for _, m := range more {
		a := Ability{Name: m.Name}
		err := errOutside
		if provider.inside {
			a.Found, err = m.Try()
		}
		if err != nil {
			a.Missing = err.Error()
		}
		all = append(all, a)
	}
	return true, 0, json.NewEncoder(out).Encode(all)
}

func because(fine bool, reason string) error {
	if fine {
		return nil
	}
	return errors.New(reason)
}

var errOutside = errors.New("it is not tried in the machine's own network namespace")

// tryNftables makes a table, reads it back and removes it. Never in the machine's own network namespace.
func tryNftables(inside bool) error {
	if !inside {
		return errOutside
	}
	conn, err := nftables.New()
	if err != nil {
		return err
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "lockcheck-try"})
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("making a table: %w", err)
	}
	found, err := conn.ListTableOfFamily(table.Name, table.Family)
	if err != nil || found == nil {
		return fmt.Errorf("a table was made but cannot be read back: %w", err)
	}
	conn.DelTable(table)
	return conn.Flush()
}

// tryTBF limits the loopback link of a network namespace that nothing else uses, and removes the limit.
func tryTBF(inside bool) error {
	if !inside {
		return errors.New("it is not tried in the machine's own network namespace")
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	const rate, burst = 1_000_000, 10_000 // in bytes a second, in bytes
	limit := &netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: lo.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       rate, Limit: burst, Buffer: netlink.Xmittime(rate, burst),
	}
	if err := netlink.QdiscAdd(limit); err != nil {
		return fmt.Errorf("making a token bucket filter (sch_tbf): %w", err)
	}
	return netlink.QdiscDel(limit)
}

// tryPtrace stops a child process and lets it go, as changing its clock would.
func tryPtrace() error {
	runtime.LockOSThread() // all requests have to come from the thread that seized
	defer runtime.UnlockOSThread()
	child := exec.Command(selfPath, AbilitiesCommand, "--wait")
	stdin, err := child.StdinPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	defer func() {
		_ = stdin.Close()
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	pid := child.Process.Pid
	if err := unix.PtraceSeize(pid); err != nil {
		return fmt.Errorf("seizing a child process: %w", err)
	}
	if err := unix.PtraceInterrupt(pid); err != nil {
		return fmt.Errorf("stopping a seized process: %w", err)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil || !status.Stopped() {
		return fmt.Errorf("a seized process did not stop: status %#x: %w", status, err)
	}
	return unix.PtraceDetach(pid)
}

// trySchedstat looks whether the kernel counts the processor time of each thread: without that it is not seen that a slowed process had none.
func trySchedstat() error {
	_, err := os.ReadFile("/proc/self/schedstat")
	return err
}

func tryVDSO() error {
	if runtime.GOARCH != "amd64" {
		return fmt.Errorf("clocks are changed on amd64 only, this is %s", runtime.GOARCH)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err == nil && !bytes.Contains(maps, []byte("[vdso]")) {
		err = errors.New("the kernel maps none (vdso=0?)")
	}
	return err
}
