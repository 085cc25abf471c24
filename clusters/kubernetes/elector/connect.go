package main

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"lockcheck/clusters/client"
)

// optionToken names the option with the bearer token of a user who may do everything.
const optionToken = "token"

// connect makes a client of one API server: client-go knows one URL. Clients that a run begins with have seeds that follow one
// another, so they are spread over the servers.
//
// Timeouts are those of resourcelock.NewFromKubeconfig, with which Kubernetes' own components make their electors: half of the
// renew deadline, and at least a second. The limit of requests a second that client-go sets itself (5) is switched off: one
// elector does not come near it, and several in one process would wait for each other.
func connect(init client.Init, renewDeadline time.Duration) (coordinationv1.CoordinationV1Interface, error) {
	if len(init.Endpoints) == 0 {
		return nil, errors.New("no API server was named")
	}
	config := &rest.Config{
		Host:            "https://" + init.Endpoints[uint64(init.Seed)%uint64(len(init.Endpoints))],
		BearerToken:     init.Options[optionToken],
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}, // the servers make their own certificates
		QPS:             -1,
		Timeout:         max(renewDeadline/2, time.Second),
		Proxy:           func(*http.Request) (*url.URL, error) { return nil, nil }, // the run's network is private
	}
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return sendings{inner} })
	return coordinationv1.NewForConfig(rest.AddUserAgent(config, "leader-election"))
}
