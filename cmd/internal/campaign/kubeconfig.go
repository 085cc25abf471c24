package campaign

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	kubeconfig "k8s.io/client-go/tools/clientcmd/api"

	"lockcheck/clusters"
)

// Connect finds the API server as kubectl does: in the files of KUBECONFIG that exist, without KUBECONFIG in ~/.kube/config, else by the service
// account of the pod that this runs in. It sends nothing. The error wraps clusters.ErrUsage or clusters.ErrUnavailable.
func Connect() (*API, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.MigrationRules = nil // they would write ~/.kube/config
	api, err := connectBy(clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil))
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("%w: no Kubernetes cluster is known here: set KUBECONFIG to a kubeconfig, or have one in ~/.kube/config", clusters.ErrUnavailable)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the kubeconfig %s: %w", clusters.ErrUsage, strings.Join(rules.Precedence, string(filepath.ListSeparator)), err)
	}
	return api, nil
}

func connectBy(found clientcmd.ClientConfig) (*API, error) {
	merged, err := found.RawConfig()
	if err != nil {
		return nil, err
	}
	if err := checkNames(merged); err != nil {
		return nil, err
	}
	config, err := found.ClientConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := found.Namespace()
	if err != nil {
		return nil, err
	}
	return connect(config, namespace)
}

// checkNames is an error if a name leads nowhere. client-go itself would look for a service account, or go on without credentials.
func checkNames(merged kubeconfig.Config) error {
	context := merged.Contexts[merged.CurrentContext]
	switch {
	case kubeconfig.IsConfigEmpty(&merged):
		return nil
	case merged.CurrentContext == "":
		return errors.New("it has no current-context: choose one with kubectl config use-context")
	case context == nil:
		return fmt.Errorf("it has no context %q, which is its current one", merged.CurrentContext)
	case merged.Clusters[context.Cluster] == nil:
		return fmt.Errorf("it has no cluster %q, which its current context %s names", context.Cluster, merged.CurrentContext)
	case context.AuthInfo != "" && merged.AuthInfos[context.AuthInfo] == nil:
		return fmt.Errorf("it has no user %q, which its current context %s names", context.AuthInfo, merged.CurrentContext)
	}
	return nil
}

func connect(config *rest.Config, namespace string) (*API, error) {
	server, err := url.Parse(config.Host)
	if err != nil || server.Host == "" || (server.Scheme != "https" && server.Scheme != "http") {
		return nil, fmt.Errorf("server %q is no URL of an API server", config.Host)
	}
	if err := CheckName("namespace", namespace); err != nil {
		return nil, err
	}
	config.UserAgent = "lockcheck"
	config.NextProtos = []string{"http/1.1"} // a connection of its own for each archive: one that hangs holds up no other
	if config.ExecProvider != nil {
		config.ExecProvider.StdinUnavailable = true // Ctrl-C asks there
	}
	config.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	config.Wrap(func(network http.RoundTripper) http.RoundTripper { return sending{network} })
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return &API{Server: config.Host, Namespace: namespace, client: &http.Client{Transport: transport, CheckRedirect: noRedirect},
		renews: config.ExecProvider != nil || config.BearerTokenFile != ""}, nil
}

// noRedirect leaves answers that lead elsewhere as they are: one that a pod gives through the proxy would be followed with our credentials.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// sending marks the errors of requests that were sent. Any other request has failed for want of credentials: the program that gives them failed.
type sending struct{ http.RoundTripper }

func (s sending) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err != nil {
		err = sentError{err}
	}
	return response, err
}

type sentError struct{ error }

func (e sentError) Unwrap() error { return e.error }
