//go:build linux && e2e

package docker

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"lockcheck/clusters/testkit"
)

// endsOf are the ends and the removals of a run's sandboxes, in their order, as the engine remembers them.
func endsOf(t *testing.T, engine *client.Client, run string) (ends []events.Message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	what := filters.NewArgs(filters.Arg("label", labelRun+"="+run), filters.Arg("label", labelHost), filters.Arg("type", string(events.ContainerEventType)),
		filters.Arg("event", string(events.ActionDie)), filters.Arg("event", string(events.ActionDestroy)))
	now := time.Now()
	said, failed := engine.Events(ctx, events.ListOptions{Since: "1", Until: fmt.Sprintf("%d.%09d", now.Unix(), now.Nanosecond()), Filters: what})
	for {
		select {
		case event := <-said:
			ends = append(ends, event)
		case <-failed: // the end of what it remembers, or ctx's
			if ctx.Err() != nil {
				t.Fatal(ctx.Err())
			}
			return ends
		}
	}
}

// No two containers leave the run's network at the same time.
func TestHostsEndOneAfterTheOther(t *testing.T) {
	t.Parallel()
	engine := needEngine(t)
	s := openSite(t, testImage(t, engine, ""))
	names := []string{"c1", "c2", "c3", "c4"}
	for _, name := range names {
		testkit.Start(t, testkit.Host(t, s, name), "sleep")
	}
	failUnlessMiscounted(t, s.Close())
	ends := endsOf(t, engine, s.run)
	var hosts []string
	for i := 0; i+1 < len(ends); i += 2 {
		died, destroyed := ends[i], ends[i+1]
		if died.Action != events.ActionDie || destroyed.Action != events.ActionDestroy || died.Actor.ID != destroyed.Actor.ID {
			t.Errorf("%s of %s is followed by %s of %s", died.Action, died.Actor.Attributes["name"], destroyed.Action, destroyed.Actor.Attributes["name"])
		}
		hosts = append(hosts, died.Actor.Attributes[labelHost])
	}
	slices.Sort(hosts)
	if hosts = slices.DeleteFunc(hosts, func(name string) bool { return !slices.Contains(names, name) }); !slices.Equal(hosts, names) {
		t.Errorf("the ends are those of %v, want %v", hosts, names)
	}
}
