package procs

import (
	"context"

	"golang.org/x/sys/unix"
)

// LeftGroup says which of these processes have descendants outside their process group, which no signal to the group reaches. Of
// a tree that goes on forking it may see none: stop it before.
func LeftGroup(leaders ...int) (map[int]bool, error) {
	_, stats, err := allStats()
	if err != nil {
		return nil, err
	}
	left := map[int]bool{}
	for _, leader := range leaders {
		for pid, s := range stats {
			if s.Group != leader && belongs(stats, pid, leader) {
				left[leader] = true
				break
			}
		}
	}
	return left, nil
}

// KillTree ends a process and all that descends from it, and returns once only zombies of it are left. It stops the tree
// first: a process that is forked while its parent is being killed loses the parent by which it is found.
func KillTree(ctx context.Context, leader int) error {
	_ = settle(ctx, Descent(leader), unix.SIGSTOP, "stopped", State.Halted) // what does not stop dies all the same
	all, err := Fixed(Descent(leader))
	if err != nil {
		return err
	}
	return Kill(ctx, all)
}
