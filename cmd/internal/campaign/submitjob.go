package campaign

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"time"

	"lockcheck/clusters"
)

// maxPlan bounds the plan: a ConfigMap takes 1 MiB, in base64.
const maxPlan = 700 << 10

// NewName is a name for a campaign that no other has.
func NewName(now time.Time) string {
	return "lockcheck-" + now.UTC().Format("20060102-150405") + "-" + random(3)
}

func random(bytes int) string {
	text := make([]byte, bytes)
	_, _ = rand.Read(text) // never fails
	return hex.EncodeToString(text)
}

func (c *Campaign) jobs() string       { return "/apis/batch/v1/namespaces/" + c.Namespace + "/jobs" }
func (c *Campaign) pods() string       { return "/api/v1/namespaces/" + c.Namespace + "/pods" }
func (c *Campaign) configMaps() string { return "/api/v1/namespaces/" + c.Namespace + "/configmaps" }

// Submit makes the Job and the ConfigMap of a campaign. After an error neither is left. The error wraps clusters.ErrUnavailable, or
// ErrUsage where the API server calls something invalid.
func (a *API) Submit(ctx context.Context, c *Campaign, o Options, plan []byte) error {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(plan); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if packed.Len() > maxPlan {
		return fmt.Errorf("%w: the plan has %d bytes, packed, and a ConfigMap takes %d: run parts of the matrix as campaigns of their own, and join them with lockcheck merge", clusters.ErrUsage, packed.Len(), maxPlan)
	}
	if c.Token == "" {
		c.Token = random(16)
	}
	var job jobObject
	if err := a.call(ctx, http.MethodPost, c.jobs(), nil, c.job(o), &job); err != nil {
		refused := c.refused("create the Job", err)
		if passing(err) { // it may have been made, and only the answer was lost
			if left := a.takeBackUnseen(ctx, c); left != nil && !errors.Is(err, syscall.ECONNREFUSED) {
				return fmt.Errorf("%w; it may have been made all the same, and ends after 7 days: kubectl delete job -n %s %s (%w)", refused, c.Namespace, c.Name, left)
			}
		}
		if hasCode(err, http.StatusNotFound) {
			return fmt.Errorf("%w; --namespace chooses another", refused)
		}
		return refused
	}
	c.UID = job.Metadata.UID
	if err := a.call(ctx, http.MethodPost, c.configMaps(), nil, c.configMap(job, packed.Bytes()), nil); err != nil {
		err = c.refused("create the ConfigMap with the plan", err)
		if left := a.takeBack(ctx, c); left != nil {
			err = fmt.Errorf("%w; and %w", err, left)
		}
		return err
	}
	return nil
}

// takeBack deletes what was submitted, also after the end of ctx.
func (a *API) takeBack(ctx context.Context, c *Campaign) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	return a.delete(ctx, c)
}

// takeBackUnseen deletes a Job whose making was not answered, if it was made: the token shows whose it is.
func (a *API) takeBackUnseen(ctx context.Context, c *Campaign) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	var job jobObject
	err := a.call(ctx, http.MethodGet, c.jobs()+"/"+c.Name, nil, nil, &job)
	if hasCode(err, http.StatusNotFound) || err == nil && job.token() != c.Token {
		return nil
	}
	if err != nil {
		return err
	}
	c.UID = job.Metadata.UID
	return a.delete(ctx, c)
}

// refused is why the API server did not do something, and what to do about it.
func (c *Campaign) refused(what string, err error) error {
	var status *StatusError
	if errors.Is(err, clusters.ErrUnavailable) { // it was said already
		return err
	}
	if !errors.As(err, &status) {
		return fmt.Errorf("%w: cannot %s: the API server %s does not answer: %w; KUBECONFIG chooses another", clusters.ErrUnavailable, what, c.Server, err)
	}
	switch status.Code {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: cannot %s: the API server %s does not know this user (401): look at the credentials of the kubeconfig", clusters.ErrUnavailable, what, c.Server)
	case http.StatusForbidden:
		return fmt.Errorf("%w: may not %s: %s; cmd/internal/campaign/role.yaml is the Role with all that is needed", clusters.ErrUnavailable, what, status.Message)
	case http.StatusNotFound:
		return fmt.Errorf("%w: cannot %s: %s", clusters.ErrUnavailable, what, status.Message)
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		return fmt.Errorf("%w: cannot %s: %s", clusters.ErrUsage, what, status.Message)
	}
	return fmt.Errorf("%w: cannot %s: %w", clusters.ErrUnavailable, what, err)
}

// Delete removes the Job, and with it its pods and its ConfigMap, as soon as the API server answers. One that is not there is no error.
func (a *API) Delete(ctx context.Context, c *Campaign, wait Patient) error {
	return wait.do(ctx, func() error { return a.delete(ctx, c) })
}

func (a *API) delete(ctx context.Context, c *Campaign) error {
	how := object{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background", "preconditions": object{"uid": c.UID}}
	err := a.call(ctx, http.MethodDelete, c.jobs()+"/"+c.Name, nil, how, nil)
	if err == nil || hasCode(err, http.StatusNotFound) || hasCode(err, http.StatusConflict) { // another has its name
		return nil
	}
	return fmt.Errorf("the Job %s is left in namespace %s: %w", c.Name, c.Namespace, err)
}

// Find is a campaign that runs, or ended not long ago, and its plan. It waits for an API server that is away.
func (a *API) Find(ctx context.Context, namespace, name string, wait Patient) (*Campaign, []byte, error) {
	c := &Campaign{Name: name, Namespace: namespace, Server: a.Server}
	var job jobObject
	err := wait.do(ctx, func() error { return a.call(ctx, http.MethodGet, c.jobs()+"/"+name, nil, nil, &job) })
	if hasCode(err, http.StatusNotFound) {
		return nil, nil, fmt.Errorf("%w: there is no Job %s in namespace %s: it was deleted, or it ended more than an hour ago", clusters.ErrUnavailable, name, namespace)
	}
	if err != nil {
		return nil, nil, c.refused("read the Job", err)
	}
	c.UID = job.Metadata.UID
	c.Shards, c.Digest, c.Token = job.Spec.Completions, job.Metadata.Annotations[noteDigest], job.token()
	c.Command = job.Metadata.Annotations[noteCommand]
	c.Privileged = job.Metadata.Annotations[noteUnprivileged] == ""
	if c.Digest != "" && c.Command == "" {
		return nil, nil, fmt.Errorf("%w: the Job %s in namespace %s was made by an earlier lockcheck: come back to it with that one", clusters.ErrUsage, name, namespace)
	}
	if c.Digest == "" || c.Token == "" || c.Shards < 1 {
		return nil, nil, fmt.Errorf("%w: the Job %s in namespace %s is not one of lockcheck's", clusters.ErrUsage, name, namespace)
	}
	var has struct{ BinaryData map[string][]byte }
	if err := wait.do(ctx, func() error { return a.call(ctx, http.MethodGet, c.configMaps()+"/"+name, nil, nil, &has) }); err != nil {
		return nil, nil, c.refused("read the ConfigMap with the plan", err)
	}
	plan, err := unpack(bytes.NewReader(has.BinaryData[planKey]))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the plan in the ConfigMap %s cannot be read: %w", clusters.ErrUsage, name, err)
	}
	return c, plan, nil
}

// maxUnpacked bounds a plan that was packed by another.
const maxUnpacked = 64 << 20

func unpack(packed io.Reader) ([]byte, error) {
	r, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxUnpacked))
}
