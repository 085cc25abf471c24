//go:build linux

package local

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"lockcheck/clusters"
)

// otherID is the user and the group that a program sees as its own that refuses to run as user id 0: nobody's, because
// programs look their user up, and every machine knows that one. Outside it is the harness's user, who owns the data.
const otherID = 65534

// otherNamespaces are those of such a program. Another id takes a user namespace. With a PID namespace its first process
// inherits every orphan of the tree, and the kernel kills the whole tree with it; an IPC namespace takes the System V shared
// memory away that servers leave when they are killed.
const otherNamespaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC

// needsOther reports whether the program would run as user id 0 and refuses to.
func needsOther(cmd clusters.Command) bool { return cmd.OtherUser && os.Geteuid() == 0 }

// asOther has a process begin as the other user.
func asOther(attr *syscall.SysProcAttr) {
	attr.Cloneflags |= otherNamespaces
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: otherID, HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: otherID, HostID: os.Getegid(), Size: 1}}
}

// explainOther says why such a program could not be started. Whether the kernel refuses its namespaces is tried with a program
// that can be started for sure: this one.
func explainOther(err error) error {
	try := &exec.Cmd{Path: selfPath, Args: []string{"lockcheck", AbilitiesCommand, "--wait"}, SysProcAttr: &syscall.SysProcAttr{Pdeathsig: killSignal}}
	asOther(try.SysProcAttr)
	refusal := try.Start()
	if refusal == nil {
		_ = try.Process.Kill()
		_ = try.Wait()
		return err
	}
	return fmt.Errorf("%w: it refuses to run as user id 0, and the kernel refuses the user namespace in which it would run as another (%w): "+
		"allow those (sysctl user.max_user_namespaces=10000), run lockcheck as a user other than root, or use %s",
		clusters.ErrUnavailable, refusal, clusters.ChooseDocker)
}
