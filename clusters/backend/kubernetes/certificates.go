package kubernetes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// Names of an API server's files.
const (
	certificateFile = "server.crt"
	keyFile         = "server.key"
	tokenFile       = "tokens.csv"
)

// token is that of the only user, who may do everything. It protects nothing: the network is the run's own.
const (
	token     = "lockcheck"
	tokenLine = token + ",lockcheck,1,system:masters\n"
)

// keys are the certificate with which the API servers show themselves, which no client checks, and its key, with which they sign
// what no client asks for.
type keys struct{ certificate, private []byte }

func makeKeys() (keys, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keys{}, err
	}
	// Clocks of a run may be set to any time.
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lockcheck"}, DNSNames: []string{"lockcheck"},
		NotBefore: now.AddDate(-10, 0, 0), NotAfter: now.AddDate(10, 0, 0),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return keys{}, err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return keys{}, err
	}
	return keys{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
	}, nil
}
