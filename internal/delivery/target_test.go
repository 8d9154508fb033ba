package delivery

import (
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	for _, tc := range []struct {
		name     string
		protocol Protocol
		endpoint string
		env      string // NAME=value, after OTEL_EXPORTER_OTLP_
		want     string // protocol, what the client is told ("-" for nothing), what people are; or the error
	}{
		{"nothing", "", "", "", "http/protobuf http://localhost:4318/v1/traces http://localhost:4318"},
		{"nothing, by gRPC", GRPC, "", "", "grpc http://localhost:4317 http://localhost:4317"},
		{"gRPC's port", "", "http://box:4317", "", "grpc http://box:4317 http://box:4317"},
		{"HTTP's port", "", "http://box:4318", "", "http/protobuf http://box:4318/v1/traces http://box:4318"},
		{"another port", "", "https://box/", "", "http/protobuf https://box/v1/traces https://box/"},
		{"the protocol goes before the port", HTTPJSON, "http://box:4317", "", "http/json http://box:4317/v1/traces http://box:4317"},
		{"a path", "", "https://box/api/otel", "", "http/protobuf https://box/api/otel/v1/traces https://box/api/otel"},
		{"the whole path", "", "https://box/api/v1/traces", "", "http/protobuf https://box/api/v1/traces https://box/api/v1/traces"},
		{"a path by gRPC", GRPC, "https://box/api", "", "error: endpoint https://box/api: gRPC knows no paths; leave it out, or use protocol http/protobuf"},
		{"a socket", "", "unix:///run/otel.sock", "", "grpc unix:///run/otel.sock unix:///run/otel.sock"},
		{"a socket by HTTP", HTTPJSON, "unix:///run/otel.sock", "", "error: endpoint unix:///run/otel.sock: only gRPC goes to a Unix socket"},
		{"no scheme", "", "localhost:4317", "", "error: endpoint localhost:4317: write http://localhost:4317, or https://localhost:4317 if it has TLS"},
		{"no scheme, insecure", "", "localhost:4317", "INSECURE=true", "grpc http://localhost:4317 localhost:4317"},
		{"no scheme, secure", "", "127.0.0.1:4318", "TRACES_INSECURE=false", "http/protobuf https://127.0.0.1:4318/v1/traces 127.0.0.1:4318"},
		{"another scheme", "", "ftp://box", "", "error: endpoint ftp://box: write http:// or https:// before host and port"},
		{"no host", "", "http://:4318", "", "error: endpoint http://:4318: it has no host"},
		{"nonsense", "", "http://box:port", "", `error: endpoint "http://box:port": invalid port ":port" after host`},
		{"a secret", "", "https://me:secret@box", "", "error: endpoint https://…@box: it has more than host, port and path; keys belong in OTEL_EXPORTER_OTLP_HEADERS"},
		{"a query", "", "https://box?key=1", "", "error: endpoint https://box…: it has more than host, port and path; keys belong in OTEL_EXPORTER_OTLP_HEADERS"},
		{"an unknown protocol", "http", "", "", `error: protocol "http" is none of ["http/protobuf" "grpc" "http/json"]`},

		{"a protocol in the environment", "", "https://box", "PROTOCOL=grpc", "grpc https://box https://box"},
		{"one for traces", "", "https://box", "PROTOCOL=grpc TRACES_PROTOCOL=http/json", "http/json https://box/v1/traces https://box"},
		{"an unknown one", "", "", "PROTOCOL=udp", `error: protocol "udp" is none of ["http/protobuf" "grpc" "http/json"]`},
		{"the flag goes before it", HTTPProtobuf, "", "PROTOCOL=grpc", "http/protobuf http://localhost:4318/v1/traces http://localhost:4318"},
		{"an endpoint in the environment", "", "", "ENDPOINT=http://box:4317", "grpc - http://box:4317"},
		{"one for traces, as it is", "", "", "ENDPOINT=http://box:4317 TRACES_ENDPOINT=https://traces/path", "http/protobuf - https://traces/path"},
		{"the flag goes before them", "", "http://mine:4318", "TRACES_ENDPOINT=https://box:4317", "http/protobuf http://mine:4318/v1/traces http://mine:4318"},
		{"gRPC's form", "", "", "ENDPOINT=box:4317", "grpc - box:4317"},
		{"gRPC's form by HTTP", HTTPProtobuf, "", "ENDPOINT=box:4317", "error: endpoint box:4317, from the environment: write http:// or https:// before it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for pair := range strings.FieldsSeq(tc.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv("OTEL_EXPORTER_OTLP_"+name, value)
			}
			target, err := resolve(tc.protocol, tc.endpoint)
			if target.url == "" {
				target.url = "-"
			}
			got := strings.Join([]string{string(target.protocol), target.url, target.shown}, " ")
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != tc.want {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}
