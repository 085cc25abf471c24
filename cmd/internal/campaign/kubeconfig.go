package campaign

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"lockcheck/clusters"
)

// kubeconfig is as much of such files as is understood.
type kubeconfig struct {
	Current  string `yaml:"current-context"`
	Contexts []struct {
		Name    string
		Context struct{ Cluster, User, Namespace string }
	}
	Clusters []struct {
		Name    string
		Cluster clusterEntry
	}
	Users []struct {
		Name string
		User userEntry
	}
}

type clusterEntry struct {
	Server     string
	CA         string `yaml:"certificate-authority"`
	CAData     string `yaml:"certificate-authority-data"`
	ServerName string `yaml:"tls-server-name"`
	Insecure   bool   `yaml:"insecure-skip-tls-verify"`
	Proxy      string `yaml:"proxy-url"`

	dir string // of its file: relative paths begin there
}

type userEntry struct {
	Token        string
	TokenFile    string `yaml:"tokenFile"`
	Cert         string `yaml:"client-certificate"`
	CertData     string `yaml:"client-certificate-data"`
	Key          string `yaml:"client-key"`
	KeyData      string `yaml:"client-key-data"`
	Username     string
	Password     string
	Exec         *execEntry
	AuthProvider map[string]any `yaml:"auth-provider"`
	Impersonate  string         `yaml:"as"`

	dir string // of its file: relative paths begin there
}

// inCluster is where a pod with a service account has its identity.
const inCluster = "/var/run/secrets/kubernetes.io/serviceaccount"

// Connect finds the API server: in the files of KUBECONFIG that exist, without KUBECONFIG in ~/.kube/config, else by the service account of
// the pod that this runs in. It sends nothing. The error wraps clusters.ErrUsage or clusters.ErrUnavailable.
func Connect() (*API, error) {
	var named, read []string
	if list := os.Getenv("KUBECONFIG"); list != "" {
		named = filepath.SplitList(list)
	} else if home, err := os.UserHomeDir(); err == nil {
		named = []string{filepath.Join(home, ".kube", "config")}
	}
	var config kubeconfig
	for _, file := range named {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%w: cannot read the kubeconfig: %w", clusters.ErrUnavailable, err)
		}
		if err := config.add(text, filepath.Dir(file)); err != nil {
			return nil, fmt.Errorf("%w: the kubeconfig %s cannot be read: %w", clusters.ErrUsage, file, err)
		}
		read = append(read, file)
	}
	if len(read) > 0 {
		api, err := config.connect()
		if err != nil {
			return nil, fmt.Errorf("the kubeconfig %s: %w", strings.Join(read, string(filepath.ListSeparator)), err)
		}
		return api, nil
	}
	if host := os.Getenv("KUBERNETES_SERVICE_HOST"); host != "" {
		return connect(clusterEntry{Server: "https://" + net.JoinHostPort(host, os.Getenv("KUBERNETES_SERVICE_PORT")), CA: filepath.Join(inCluster, "ca.crt")},
			userEntry{TokenFile: filepath.Join(inCluster, "token")}, firstLine(filepath.Join(inCluster, "namespace")))
	}
	return nil, fmt.Errorf("%w: no Kubernetes cluster is known here: set KUBECONFIG to a kubeconfig, or have one in ~/.kube/config", clusters.ErrUnavailable)
}

// add adds a file as kubectl does: of a name, and of the current context, the first file's whole entry counts.
func (k *kubeconfig) add(text []byte, dir string) error {
	var more kubeconfig
	if err := yaml.Unmarshal(text, &more); err != nil {
		return err
	}
	for i := range more.Clusters {
		more.Clusters[i].Cluster.dir = dir
	}
	for i := range more.Users {
		more.Users[i].User.dir = dir
	}
	k.Current = cmp.Or(k.Current, more.Current)
	k.Contexts = append(k.Contexts, more.Contexts...)
	k.Clusters = append(k.Clusters, more.Clusters...)
	k.Users = append(k.Users, more.Users...)
	return nil
}

// connect is the API server of the current context.
func (k kubeconfig) connect() (*API, error) {
	wrong := func(why string, args ...any) error {
		return fmt.Errorf("%w: "+why, append([]any{clusters.ErrUsage}, args...)...)
	}
	if k.Current == "" {
		return nil, wrong("it has no current-context: choose one with kubectl config use-context")
	}
	for _, context := range k.Contexts {
		if context.Name != k.Current {
			continue
		}
		for _, cluster := range k.Clusters {
			if cluster.Name != context.Context.Cluster {
				continue
			}
			if context.Context.User == "" {
				return connect(cluster.Cluster, userEntry{}, context.Context.Namespace)
			}
			for _, user := range k.Users {
				if user.Name == context.Context.User {
					return connect(cluster.Cluster, user.User, context.Context.Namespace)
				}
			}
			return nil, wrong("it has no user %q, which its current context %s names", context.Context.User, k.Current)
		}
		return nil, wrong("it has no cluster %q, which its current context %s names", context.Context.Cluster, k.Current)
	}
	return nil, wrong("it has no context %q, which is its current one", k.Current)
}

// data is what a kubeconfig has in itself, or in a file beside it; nil if it has neither.
func data(dir, file, inline string) ([]byte, error) {
	switch {
	case inline != "":
		return base64.StdEncoding.DecodeString(inline)
	case file != "":
		return os.ReadFile(within(dir, file))
	}
	return nil, nil
}

func within(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

func connect(cluster clusterEntry, user userEntry, namespace string) (*API, error) {
	wrong := func(what string, err error) (*API, error) {
		return nil, fmt.Errorf("%w: %s: %w", clusters.ErrUsage, what, err)
	}
	server, err := url.Parse(cluster.Server)
	if err != nil || server.Host == "" || (server.Scheme != "https" && server.Scheme != "http") {
		return wrong("server", fmt.Errorf("%q is no URL of an API server", cluster.Server))
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: cluster.Insecure, ServerName: cluster.ServerName}
	authority, err := data(cluster.dir, cluster.CA, cluster.CAData)
	if err != nil {
		return wrong("certificate-authority", err)
	}
	if authority != nil {
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(authority) {
			return wrong("certificate-authority", errors.New("it has no certificate"))
		}
	}
	certificate, err := data(user.dir, user.Cert, user.CertData)
	if err != nil {
		return wrong("client-certificate", err)
	}
	key, err := data(user.dir, user.Key, user.KeyData)
	if err != nil {
		return wrong("client-key", err)
	}
	if certificate != nil {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return wrong("client-certificate", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig, transport.ResponseHeaderTimeout = secure, requestTimeout
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	transport.ForceAttemptHTTP2 = false // a connection of its own for each archive: one that hangs holds up no other
	transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	if cluster.Proxy != "" {
		proxy, err := url.Parse(cluster.Proxy)
		if err != nil {
			return wrong("proxy-url", err)
		}
		transport.Proxy = http.ProxyURL(proxy)
	}
	identity, err := user.identity()
	if err != nil {
		return nil, err
	}
	if namespace == "" {
		namespace = "default"
	}
	if err := CheckName("namespace", namespace); err != nil {
		return wrong("namespace", err)
	}
	return &API{Server: cluster.Server, Namespace: namespace, client: &http.Client{Transport: transport, CheckRedirect: noRedirect}, identity: identity}, nil
}

// noRedirect leaves answers that lead elsewhere as they are: one that a pod gives through the proxy would be followed with our credentials.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
