package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"lockcheck/clusters"
	"lockcheck/reports/words"
)

// ErrRestricted says that the namespace lets no pods in that may make network namespaces.
var ErrRestricted = errors.New("the namespace forbids the privileges that network namespaces need")

// ErrNotStarted says that no pod of a campaign was started; it wraps clusters.ErrUnavailable.
var ErrNotStarted = fmt.Errorf("%w: no pod has started", clusters.ErrUnavailable)

// ErrNoProgress says that no pod of a campaign is at work any more, and none can be; it wraps clusters.ErrUnavailable.
var ErrNoProgress = fmt.Errorf("%w: no pod is at work any more", clusters.ErrUnavailable)

// trouble is what keeps pods from starting, as far as they say it.
type trouble struct {
	since   time.Time // when a pod was last at work, or the API server away; at first, when the campaign was begun to be followed
	image   string    // why no container could be made of the image, in this round
	imageAt time.Time // since when that has been so
	never   bool      // it will not get better by waiting
	full    string    // why no node takes a pod, in this round
	pending string    // what else a pod waits for, in this round
	last    string    // how the last pod ended that ended early

	refusal refusal   // the last that was seen
	current bool      // it came while no pod was at work
	asked   time.Time // for refusals
	told    map[string]said
}

// refusal is why the Job's last pod was not let in.
type refusal struct {
	why   string
	at    time.Time
	count int
}

type said struct {
	text string
	at   time.Time
}

func newTrouble() trouble { return trouble{since: time.Now(), told: map[string]said{}} }

// begin forgets what the last round of pods said.
func (t *trouble) begin() {
	if t.image == "" {
		t.imageAt = time.Time{}
	}
	t.image, t.never, t.full, t.pending = "", false, "", ""
}

// hopeless are the reasons for which a container waits that pass only if a user does something; the value is whether waiting may help.
var hopeless = map[string]bool{
	"InvalidImageName": false, "ErrImageNeverPull": false, "ErrImagePull": true, "ImagePullBackOff": true,
	"CreateContainerConfigError": true, "CreateContainerError": true,
}

// imagePatience is how long an image may fail to be pulled, or a container to be made of it.
const imagePatience = 30 * time.Second

// look notes what keeps a pod from working. Pods that could not be started stay: once others have been, they say nothing of now.
func (t *trouble) look(pod podObject, started bool) {
	if c := holding(pod.Status.Conditions, "PodScheduled", "False"); c != nil && c.Reason == "Unschedulable" {
		t.full = plain(c.Message)
	}
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil {
			if mayPass, is := hopeless[w.Reason]; is {
				t.noImage(plain(w.Reason+": "+w.Message), !mayPass)
			} else {
				t.pending = fmt.Sprintf("the pod %s waits: %s", pod.Metadata.Name, plain(w.Reason+" "+w.Message))
			}
		}
	}
	if pod.Status.Phase == "Failed" && !started && neverRan(pod) {
		t.noImage(endOf(pod), true)
	}
}

func (t *trouble) noImage(why string, never bool) {
	if t.imageAt.IsZero() {
		t.imageAt = time.Now()
	}
	t.image, t.never = why, t.never || never
}

func (t *trouble) lastWords() string {
	if t.last == "" {
		return ""
	}
	return ": " + t.last
}

// neverRan reports whether the program of a pod could not even be started.
func neverRan(pod podObject) bool {
	return ended(pod, func(reason string) bool { return slices.Contains(startFailures, reason) })
}

// ran reports whether the program of a pod was started, and has ended.
func ran(pod podObject) bool {
	return ended(pod, func(reason string) bool { return !slices.Contains(startFailures, reason) })
}

// startFailures are the reasons for which a container ends whose program was never started.
var startFailures = []string{"StartError", "ContainerCannotRun"}

func ended(pod podObject, is func(reason string) bool) bool {
	for _, s := range pod.Status.ContainerStatuses {
		if end := s.State.Terminated; end != nil && is(end.Reason) {
			return true
		}
	}
	return false
}

// endOf is how a pod ended, in words.
func endOf(pod podObject) string {
	words := []string{}
	for _, s := range pod.Status.ContainerStatuses {
		if end := s.State.Terminated; end != nil {
			words = append(words, fmt.Sprintf("%s, exit %d", end.Reason, end.ExitCode), clip(end.Message))
		}
	}
	words = append(words, pod.Status.Reason, clip(pod.Status.Message))
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) == 0 {
		return "it was deleted, or its node is gone"
	}
	return strings.Join(words, ": ")
}

// plain is what others wrote, as one line without anything that a terminal would obey. Its beginning counts.
func plain(text string) string {
	return words.Clip(words.Plain(strings.Join(strings.Fields(text), " ")), 2000)
}

// clip is the end of what a program printed, which says why it ended.
func clip(text string) string {
	text = words.Plain(strings.Join(strings.Fields(text), " "))
	if len(text) > 300 {
		return "… " + strings.ToValidUTF8(text[len(text)-300:], "")
	}
	return text
}

const (
	eventsEvery       = 5 * time.Second  // events are asked for while no pod is at work,
	eventsEveryAtWork = 30 * time.Second // and while fewer are than could be
	tellEvery         = time.Minute      // the same trouble in other words is told again
)

// stuck is why a campaign will not go on; nil as long as it may. What holds pods up is said at once. A campaign ends by it while no pod is at
// work: soon if there has never been any and waiting helps nothing, else after StartTimeout. Once pods have been at work it ends for a reason
// that the cluster gives: the Job controller waits for minutes by itself before it makes another pod of an index that failed.
func (f *Follow) stuck(ctx context.Context, idle, short bool) error {
	t := &f.trouble
	if !f.started && t.image != "" && (t.never || time.Since(t.imageAt) > imagePatience) {
		return fmt.Errorf("%w: none can be made of the image: %s; --image names another", ErrNotStarted, t.image)
	}
	late := idle && time.Since(t.since) > f.StartTimeout
	if err := f.askForRefusals(ctx, idle, short, late); err != nil {
		return err
	}
	why := ""
	for _, reason := range []struct{ kind, text, advice string }{
		{"no container can be made of the image", t.image, "; --image names another"},
		{"no node takes a pod", t.full, "; --cpu and --memory say what a pod asks for"},
		{"the Job may make no pod", t.refused(), "; --cpu and --memory say what a pod asks for, --namespace where it is made"},
		{"", t.pending, ""},
	} {
		if reason.kind != "" {
			f.tellOf(reason.kind, reason.text)
		}
		if why == "" && reason.text != "" {
			why = reason.text + reason.advice
		}
	}
	if !idle {
		t.current = false // a refusal counts as the reason of a standstill only if it comes again in it
	}
	switch {
	case !late, f.started && why == "":
		return nil
	case f.started:
		return fmt.Errorf("%w, for %v: %s", ErrNoProgress, f.StartTimeout, why)
	case why == "":
		why = "neither its pods nor its events say why"
	}
	return fmt.Errorf("%w within %v: %s", ErrNotStarted, f.StartTimeout, why)
}

func (t *trouble) refused() string {
	if t.current {
		return t.refusal.why
	}
	return ""
}

// tellOf says what holds pods up: at once, and again if that has changed, but not with every count in it.
func (f *Follow) tellOf(kind, text string) {
	before, again := f.trouble.told[kind]
	if text == "" || text == before.text || again && time.Since(before.at) < tellEvery {
		return
	}
	f.trouble.told[kind] = said{text, time.Now()}
	f.Notice(kind + ": " + text)
}

// askForRefusals looks for pods that were not let in. Events stay for an hour: once pods have been at work, one that was there before they
// ended says nothing of now, until it is repeated.
func (f *Follow) askForRefusals(ctx context.Context, idle, short, late bool) error {
	t := &f.trouble
	every := min(eventsEvery, f.StartTimeout/4)
	if !idle {
		every = eventsEveryAtWork
		if !short {
			return nil
		}
	}
	last := t.asked
	if last.IsZero() && !idle {
		last = t.since
	}
	if !late && time.Since(last) < every {
		return nil
	}
	first := t.asked.IsZero()
	t.asked = time.Now()
	newest, err := f.newestRefusal(ctx)
	if err != nil {
		return f.asked("read the events of the Job", err)
	}
	if newest.why == "" {
		return nil
	}
	if !f.started && strings.Contains(newest.why, "violates PodSecurity") {
		return fmt.Errorf("%w: %w: %s", ErrNotStarted, ErrRestricted, newest.why)
	}
	t.current = t.current || !f.started || !first && newest != t.refusal
	t.refusal = newest
	return nil
}

// newestRefusal is the last that the Job's events have; the zero one if no pod was refused.
func (f *Follow) newestRefusal(ctx context.Context) (newest refusal, err error) {
	var events struct {
		Items []struct {
			Message       string
			LastTimestamp time.Time
			Count         int
		}
	}
	query := url.Values{"fieldSelector": {"involvedObject.kind=Job,reason=FailedCreate,involvedObject.name=" + f.Name}, "limit": {"500"}} // they come by name, not by age
	if err := f.API.call(ctx, http.MethodGet, "/api/v1/namespaces/"+f.Namespace+"/events", query, nil, &events); err != nil {
		return newest, err
	}
	for _, e := range events.Items {
		if newest.why == "" || e.LastTimestamp.After(newest.at) {
			newest = refusal{plain(e.Message), e.LastTimestamp, e.Count}
		}
	}
	return newest, nil
}
