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
)

// ErrRestricted says that the namespace lets no pods in that may make network namespaces.
var ErrRestricted = errors.New("the namespace forbids the privileges that network namespaces need")

// ErrNotStarted says that no pod of a campaign was started; it wraps clusters.ErrUnavailable.
var ErrNotStarted = fmt.Errorf("%w: no pod has started", clusters.ErrUnavailable)

// trouble is what keeps pods from starting, as far as they say it.
type trouble struct {
	since   time.Time // when the campaign was begun to be followed
	image   string    // why no container could be made of the image
	imageAt time.Time
	never   bool   // it will not get better by waiting
	full    string // why no node takes a pod
	last    string // how the last pod ended that ended early
	asked   time.Time
}

// hopeless are the reasons for which a container waits that pass only if somebody does something; the value is whether waiting may help.
var hopeless = map[string]bool{
	"InvalidImageName": false, "ErrImageNeverPull": false, "ErrImagePull": true, "ImagePullBackOff": true,
	"CreateContainerConfigError": true, "CreateContainerError": true,
}

// imagePatience is how long an image may fail to be pulled, or a container to be made of it.
const imagePatience = 30 * time.Second

func (t *trouble) look(pod podObject) {
	if c := holding(pod.Status.Conditions, "PodScheduled", "False"); c != nil && c.Reason == "Unschedulable" {
		t.full = c.Message
	}
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil {
			if mayPass, is := hopeless[w.Reason]; is {
				t.noImage(w.Reason+": "+w.Message, !mayPass)
			}
		}
	}
	if pod.Status.Phase == "Failed" {
		t.last = endOf(pod)
		if neverRan(pod) {
			t.noImage(t.last, true)
		}
	}
}

func (t *trouble) noImage(why string, never bool) {
	if t.image == "" {
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
	for _, s := range pod.Status.ContainerStatuses {
		if end := s.State.Terminated; end != nil && slices.Contains([]string{"StartError", "ContainerCannotRun"}, end.Reason) {
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

func clip(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 300 {
		return "… " + strings.ToValidUTF8(text[len(text)-300:], "")
	}
	return text
}

// eventsEvery is how often events are asked for while no pod has started.
const eventsEvery = 5 * time.Second

// stuck is why a campaign of which no pod has started yet will not start; nil as long as it may.
func (f *Follow) stuck(ctx context.Context) error {
	t := &f.trouble
	if f.started {
		return nil
	}
	if t.image != "" && (t.never || time.Since(t.imageAt) > imagePatience) {
		return fmt.Errorf("%w: none can be made of the image: %s", ErrNotStarted, t.image)
	}
	late := time.Since(t.since) > f.StartTimeout
	why := t.full
	if why == "" && (late || time.Since(t.asked) > eventsEvery) {
		t.asked = time.Now()
		refusal, err := f.refusal(ctx)
		if err != nil {
			return f.asked("read the events of the Job", err)
		}
		if strings.Contains(refusal, "violates PodSecurity") {
			return fmt.Errorf("%w: %w: %s", ErrNotStarted, ErrRestricted, refusal)
		}
		why = refusal
	}
	if !late {
		return nil
	}
	if why == "" {
		why = "neither its pods nor its events say why"
	}
	return fmt.Errorf("%w within %v: %s", ErrNotStarted, f.StartTimeout, why)
}

// refusal is why the Job's last pod was not let in, as its events have it; "" if none was refused.
func (f *Follow) refusal(ctx context.Context) (string, error) {
	var events struct {
		Items []struct {
			Message       string
			LastTimestamp time.Time
		}
	}
	query := url.Values{"fieldSelector": {"involvedObject.kind=Job,reason=FailedCreate,involvedObject.name=" + f.Name}, "limit": {"20"}}
	if err := f.API.call(ctx, http.MethodGet, "/api/v1/namespaces/"+f.Namespace+"/events", query, nil, &events); err != nil {
		return "", err
	}
	last := ""
	var at time.Time
	for _, e := range events.Items {
		if last == "" || e.LastTimestamp.After(at) {
			last, at = e.Message, e.LastTimestamp
		}
	}
	return last, nil
}
