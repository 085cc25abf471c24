package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
)

// Follow waits for the shards of a campaign and fetches each once.
type Follow struct {
	API *API
	*Campaign
	Store  Store
	Notice func(line string) // for people
	// StartTimeout is how long the cluster may have no pod at work: before the first one, or for a reason that it gives later.
	StartTimeout time.Duration
	// Every is how often the cluster is asked.
	Every time.Duration

	started  bool // some pod was seen at work, or has been
	seen     map[string]bool
	again    int // pods that ended before their results were fetched
	trouble  trouble
	progress string // as last told
}

// Missing is a shard whose results cannot come any more.
type Missing struct {
	Shard     int
	Why       string
	Elsewhere bool // another lockcheck has fetched it
}

// Run returns once every shard was fetched or cannot be any more; those are returned. An error leaves the Job as it is; that of ctx is
// returned as it is. What the API server cannot do for a while is tried again.
func (f *Follow) Run(ctx context.Context) ([]Missing, error) {
	f.seen = map[string]bool{}
	f.trouble = newTrouble()
	waits := patience{notice: f.Notice}
	for {
		missing, done, err := f.round(ctx)
		given := waits.after(err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case given != nil:
			return nil, given
		case err != nil:
			f.trouble.since = time.Now() // what cannot be asked is no standstill
		case done:
			return missing, nil
		}
		if err := pause(ctx, f.Every); err != nil {
			return nil, err
		}
	}
}

// round asks the cluster once how it stands, fetches what is ready, and reports whether there is nothing more to wait for.
func (f *Follow) round(ctx context.Context) (missing []Missing, done bool, err error) {
	var job jobObject
	err = f.API.call(ctx, http.MethodGet, f.jobs()+"/"+f.Name, nil, nil, &job)
	if hasCode(err, http.StatusNotFound) || err == nil && job.Metadata.UID != f.UID { // or another took its name
		return f.lacking(func(int) string { return "the Job is not there any more: it was deleted" }), true, nil
	}
	if err != nil {
		return nil, false, f.asked("read the Job", err)
	}
	var ready []podObject
	running, fetched := 0, f.Store.Count()
	completed, failed := indexes(job.Status.CompletedIndexes, f.Shards), indexes(job.Status.FailedIndexes, f.Shards)
	f.trouble.begin()
	err = f.eachPod(ctx, func(pod podObject) {
		f.look(pod, !job.ending() && !failed[pod.index()])
		switch {
		case pod.ready():
			ready = append(ready, pod)
			fallthrough
		case pod.running():
			running++
		}
	})
	if err != nil {
		return nil, false, err
	}
	if err := f.fetchAll(ctx, ready); err != nil {
		return nil, false, err
	}
	f.started = f.started || running > 0 || job.Status.Succeeded > 0 || f.Store.Count() > 0
	if running > 0 || f.Store.Count() > fetched {
		f.trouble.since = time.Now()
	}
	f.tell(running)
	if f.Store.Count() == f.Shards {
		return nil, true, nil
	}
	ended := job.condition("Failed")
	if ended == nil {
		ended = job.condition("Complete")
	}
	settled := true
	missing = f.lacking(func(i int) string {
		switch {
		case completed[i]:
			return "its results were fetched by another lockcheck, and are in its directory"
		case failed[i]:
			return fmt.Sprintf("its pod was ended more often than %d times%s", retries, f.trouble.lastWords())
		case ended != nil:
			return strings.TrimSpace(fmt.Sprintf("the Job ended (%s) %s", ended.Reason, ended.Message))
		}
		settled = false
		return ""
	})
	if settled {
		for i, m := range missing {
			missing[i].Elsewhere = completed[m.Shard-1]
		}
		return missing, true, nil
	}
	wanted := min(job.Spec.Parallelism, f.Shards-job.Status.Succeeded)
	return nil, false, f.stuck(ctx, running == 0, job.Status.Active < wanted)
}

// lacking are the shards that were not fetched, each with the reason for its index.
func (f *Follow) lacking(why func(index int) string) (missing []Missing) {
	for i := range f.Shards {
		if !f.Store.Has(i + 1) {
			missing = append(missing, Missing{Shard: i + 1, Why: why(i)})
		}
	}
	return missing
}

// asked is an error of a request: one that may pass as it is, any other with what to do about it.
func (f *Follow) asked(what string, err error) error {
	if passing(err) {
		return err
	}
	return f.refused(what, err)
}

// pageOfPods is how many pods one answer has at most.
const pageOfPods = 500

// eachPod goes over the campaign's pods, but those that gave their results, and those that only wear the label of its Job: a pod that is
// asked hears the token.
func (f *Follow) eachPod(ctx context.Context, do func(podObject)) error {
	query := url.Values{"labelSelector": {jobLabel + "=" + f.Name}, "fieldSelector": {"status.phase!=Succeeded"}, "limit": {fmt.Sprint(pageOfPods)}}
	for {
		var page struct {
			Metadata struct{ Continue string }
			Items    []podObject
		}
		if err := f.API.call(ctx, http.MethodGet, f.pods(), query, nil, &page); err != nil {
			if hasCode(err, http.StatusGone) { // the next page is too old: the next round begins again
				return nil
			}
			return f.asked("list the pods", err)
		}
		for _, pod := range page.Items {
			if pod.ownedBy(f.UID) {
				do(pod)
			}
		}
		if page.Metadata.Continue == "" {
			return nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

// look notes what became of a pod, once. again is whether the Job makes another for its index.
func (f *Follow) look(pod podObject, again bool) {
	if !pod.deleted() { // what holds up one that is on its way out holds nothing up
		f.trouble.look(pod, f.started)
	}
	if !pod.lost() || f.seen[pod.Metadata.UID] || f.Store.Has(pod.index()+1) {
		return
	}
	f.seen[pod.Metadata.UID] = true
	f.again++
	f.started = f.started || ran(pod) || pod.Status.Phase == "Running"
	f.trouble.last = endOf(pod)
	text := fmt.Sprintf("the pod %s of shard %d ended before its results were fetched (%s)", pod.Metadata.Name, pod.index()+1, f.trouble.last)
	if again {
		text += "; it is run again"
	}
	f.Notice(text)
}

// tell says how far the campaign is, if that has changed.
func (f *Follow) tell(running int) {
	waiting := max(f.Shards-f.Store.Count()-running, 0)
	text := fmt.Sprintf("%d of %d shards fetched, %d at work, %d to come", f.Store.Count(), f.Shards, min(running, f.Shards-f.Store.Count()), waiting)
	if f.again > 0 {
		text += ", " + history.Counted(int64(f.again), "pod", "pods") + " ended early"
	}
	if text != f.progress {
		f.progress = text
		f.Notice(text)
	}
}

// maxFetches bounds how many archives are read at once.
const maxFetches = 4

// fetchAll fetches the results of pods, and tells each that they were. A shard that was fetched already is not fetched again: its pod had
// not heard of it, or was one of two. An error is one that ends the campaign; what a pod does not give now it is asked for again.
func (f *Follow) fetchAll(ctx context.Context, ready []podObject) error {
	slots := make(chan struct{}, maxFetches)
	errs := make([]error, len(ready))
	var at sync.WaitGroup
	for n, pod := range ready {
		at.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[n] = f.fetch(ctx, pod)
		})
	}
	at.Wait()
	errs = slices.DeleteFunc(errs, func(err error) bool {
		if err != nil && passing(err) && ctx.Err() == nil {
			f.Notice(fmt.Sprintf("%v; it is asked again", err))
			return true
		}
		return err == nil
	})
	return errors.Join(errs...)
}
