package main

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"lockcheck/clusters/client"
)

// optionToken names the option with the bearer token of a user who may do everything, at servers that lockcheck started.
const optionToken = "token"

// namespaceOf is where the Leases are. The API server makes the default one when it starts.
func namespaceOf(init client.Init) string {
	return cmp.Or(init.Access().Parts[client.OptionNamespace], "default")
}

// leaseName is that of the Lease of a lock. Names of locks at a service that others run have a slash after their prefix, which those of Leases have not.
func leaseName(key string) string { return "lockcheck-" + strings.ReplaceAll(key, "/", ".") }

// trust is how the servers show who they are, and the client shows who it is.
func trust(access client.Access) rest.TLSClientConfig {
	if !access.TLS { // lockcheck started the servers, which make their own certificates
		return rest.TLSClientConfig{Insecure: true}
	}
	return rest.TLSClientConfig{CAFile: access.CA, CertFile: access.Cert, KeyFile: access.Key, ServerName: access.ServerName}
}

// configOf names one API server: client-go knows one URL. Clients that a run begins with have seeds that follow one
// another, so they are spread over the servers.
//
// Timeouts are those of resourcelock.NewFromKubeconfig, with which Kubernetes' own components make their electors: half of the
// renew deadline, and at least a second. The limit of requests a second that client-go sets itself (5) is switched off: one
// elector does not come near it, and several in one process would wait for each other.
func configOf(init client.Init, renewDeadline time.Duration) (*rest.Config, error) {
	if len(init.Endpoints) == 0 {
		return nil, errors.New("no API server was named")
	}
	access := init.Access()
	config := &rest.Config{
		Host:            "https://" + init.Endpoints[uint64(init.Seed)%uint64(len(init.Endpoints))],
		BearerToken:     cmp.Or(access.Password.Reveal(), init.Options[optionToken]),
		TLSClientConfig: trust(access),
		QPS:             -1,
		Timeout:         max(renewDeadline/2, time.Second),
		Proxy:           func(*http.Request) (*url.URL, error) { return nil, nil }, // the run's network is private
	}
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return sendings{homebound{inner}} })
	return rest.AddUserAgent(config, "leader-election"), nil
}
