package delivery

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TLS with a certificate for both sides, headers and compression are those of the environment, whatever the protocol.
func TestEnvironment(t *testing.T) {
	cert, key, config := certificate(t)
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere") // that for traces goes before it
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", cert)
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", cert)
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", key)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret%20key")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	for _, protocol := range Protocols {
		for _, from := range []string{"flag", "environment"} {
			t.Run(string(protocol)+"/"+from, func(t *testing.T) {
				// What the environment says of the protocol is not what is asked for, and must not get in the way.
				t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", string(HTTPJSON))
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
				b := new(backend).start(t, protocol, config)
				if from == "environment" {
					t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", b.endpoint)
					t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", string(protocol))
					b.endpoint = ""
				}
				given := protocol
				if from == "environment" {
					given = ""
				}
				c := b.client(t, given)
				if err := upload(c, 1000); err != nil {
					t.Fatal(err)
				}
				if got := b.counts(); got != "2 spans, 0 of them again" {
					t.Errorf("the backend has %s", got)
				}
				want := []string{"secret key", "gzip", "/v1/traces"}
				if protocol == GRPC {
					want = []string{"secret key", "gzip"}
				}
				if !slices.Equal(b.headers, want) {
					t.Errorf("headers %q, want %q", b.headers, want)
				}
				if !strings.HasSuffix(c.String(), " ("+string(protocol)+")") || !strings.HasPrefix(c.String(), "https://127.0.0.1:") {
					t.Errorf("it is called %s", c)
				}
			})
		}
	}
}

// A client that is closed leaves no connection behind.
func TestClientClose(t *testing.T) {
	for _, protocol := range Protocols {
		t.Run(string(protocol), func(t *testing.T) {
			b := &backend{closed: make(chan struct{}, 1)}
			b.start(t, protocol, nil)
			c, err := NewClient(protocol, b.endpoint)
			if err != nil {
				t.Fatal(err)
			}
			if err := upload(c, 0); err != nil {
				t.Error(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			<-b.closed
		})
	}
}

func TestNewClientErrors(t *testing.T) {
	cert, _, _ := certificate(t)
	for _, tc := range []struct {
		name, endpoint, env, value, want string
	}{
		{"a certificate that is not there", "https://box", "CERTIFICATE", "/nowhere", "OTEL_EXPORTER_OTLP_CERTIFICATE: open /nowhere"},
		{"one that is none", "https://box", "CERTIFICATE", os.DevNull, "holds no certificate in PEM"},
		{"one for what has no TLS", "http://box", "CERTIFICATE", cert, "endpoint http://box: it has no TLS"},
		{"a key that is none", "https://box", "CLIENT_KEY", os.DevNull, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: "},
		{"an endpoint that is none", "box", "CLIENT_KEY", "", "endpoint box: "},
	} {
		for _, protocol := range Protocols {
			t.Run(tc.name+"/"+string(protocol), func(t *testing.T) {
				t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", os.DevNull)
				t.Setenv("OTEL_EXPORTER_OTLP_"+tc.env, tc.value)
				if _, err := NewClient(protocol, tc.endpoint); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error %v, want %s", err, tc.want)
				}
			})
		}
	}
}

// certificate makes one that is good for server and client, and returns its files and a server's configuration.
func certificate(t *testing.T) (certFile, keyFile string, config *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "test"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certFile, keyFile = write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", keyDER)
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	return certFile, keyFile, &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, NextProtos: []string{"h2", "http/1.1"},
	}
}
