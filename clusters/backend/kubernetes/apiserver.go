package kubernetes

import (
	"net"
	"path"
	"strings"

	"lockcheck/clusters"
)

const (
	port     = "6443"
	dataName = "apiserver" // also names the log
)

// apiServer is what one API server is told.
type apiServer struct {
	host    clusters.Host
	members []string // addresses of etcd's members
	values  map[string]string
	keys    keys
}

// command starts the server. All are alike: they share nothing but etcd.
func (s apiServer) command(found clusters.Command) (clusters.Command, error) {
	dir, err := s.host.DataDir(dataName)
	if err != nil {
		return found, err
	}
	at := func(name string) string { return path.Join(dir, name) }
	var etcd []string
	for _, m := range s.members {
		etcd = append(etcd, "http://"+m)
	}
	found.Log, found.Data = dataName, dataName
	found.Args = append(append(found.Args[:len(found.Args):len(found.Args)],
		"--etcd-servers="+strings.Join(etcd, ","),
		"--bind-address="+s.host.Addr(), "--advertise-address="+s.host.Addr(), "--secure-port="+port,
		"--tls-cert-file="+at(certificateFile), "--tls-private-key-file="+at(keyFile),
		"--service-account-issuer=https://lockcheck", "--service-account-key-file="+at(keyFile), "--service-account-signing-key-file="+at(keyFile),
		"--token-auth-file="+at(tokenFile), "--authorization-mode=AlwaysAllow",
		// What a cluster's other parts would need: no controller runs here, and no Service leads to these servers.
		"--service-cluster-ip-range=10.96.0.0/24", "--endpoint-reconciler-type=none", "--disable-admission-plugins=ServiceAccount",
	), flags(s.values)...)
	found.Files = map[string][]byte{at(certificateFile): s.keys.certificate, at(keyFile): s.keys.private, at(tokenFile): []byte(tokenLine)}
	return found, nil
}

func endpoint(n clusters.Node) string { return net.JoinHostPort(n.Addr(), port) }
