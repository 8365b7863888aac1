package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority is the certificate authority of one control plane.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// pair is a certificate and its key, PEM encoded.
type pair struct{ cert, key []byte }

// validity of certificates, wide on both sides: tests move clocks.
const validity = 10 * 365 * 24 * time.Hour

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	t, err := template(pkix.Name{CommonName: "reminder-operator test authority"})
	if err != nil {
		return nil, err
	}
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the authority's certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	return &authority{cert: cert, key: key, pem: certPEM(der)}, nil
}

// template is what all certificates have in common.
func template(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: now.Add(-validity), NotAfter: now.Add(validity),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}, nil
}

// client issues the certificate of a user who is in the groups given.
func (a *authority) client(user string, groups ...string) (pair, error) {
	t, err := template(pkix.Name{CommonName: user, Organization: groups})
	if err != nil {
		return pair{}, err
	}
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(t)
}

// server issues the certificate of a server on this machine.
func (a *authority) server(names ...string) (pair, error) {
	t, err := template(pkix.Name{CommonName: names[0]})
	if err != nil {
		return pair{}, err
	}
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	t.DNSNames = append([]string{"localhost"}, names...)
	t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	return a.issue(t)
}

func (a *authority) issue(t *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("make the key of %s: %w", t.Subject.CommonName, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("sign the certificate of %s: %w", t.Subject.CommonName, err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, fmt.Errorf("encode the key of %s: %w", t.Subject.CommonName, err)
	}
	return pair{cert: certPEM(der), key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})}, nil
}

func certPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// writePKI writes the files that the API server reads, into a folder.
func (a *authority) writePKI(dir string) error {
	server, err := a.server("kubernetes", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	tokens, err := a.server("service-account-tokens") // only its key is used
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"ca.crt": a.pem, "apiserver.crt": server.cert, "apiserver.key": server.key,
		"sa.key": tokens.key, "sa.crt": tokens.cert,
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of certificates: %w", err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return fmt.Errorf("write a certificate: %w", err)
		}
	}
	return nil
}
