package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// What a manager logs while it stops would hide the reason.
func init() { log.SetLogger(logr.Discard()) }

// manager is controller-runtime's, on the term's record. The lock is granted when its runnable is started. An error of Start is the
// loss: the work is told by nothing else, and only the end of the process stops it.
func (t *term) manager() (run func(context.Context) error, err error) {
	of := t.locks
	m, err := manager.New(of.config, manager.Options{
		LeaderElection: true, LeaderElectionID: t.lease, LeaderElectionNamespace: of.in, LeaderElectionResourceLockInterface: t.record,
		LeaseDuration: &of.times.lease, RenewDeadline: &of.times.renewDeadline, RetryPeriod: &of.times.retryPeriod,
		Metrics: server.Options{BindAddress: "0"}, // none
	})
	if err != nil {
		return nil, err
	}
	err = m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		close(t.started)
		<-ctx.Done()
		return nil
	}))
	return func(ctx context.Context) error {
		err := m.Start(ctx)
		if err != nil {
			of.leaving.Store(true)
			t.stopped(err)
		}
		return err
	}, err
}

// exit is replaced by tests.
var exit = os.Exit

// end is what main does once a manager's Start has returned an error: the scaffold of kubebuilder exits at once, other programs clean
// up first.
func (l *locks) end(why error) {
	fmt.Fprintln(os.Stderr, "problem running manager:", why)
	if l.cleansUp {
		time.Sleep(l.times.lease)
	}
	exit(1)
}
