package jaeger

import (
	"strings"
	"text/template"
)

// Storage says where a Jaeger keeps its spans.
type Storage struct{ badger string }

// Memory is a storage that keeps every span it is sent, copies as well, until the server stops.
func Memory() Storage { return Storage{} }

// Badger is a storage in a folder. Of a span that it is sent again it keeps the last copy.
func Badger(dir string) Storage { return Storage{badger: dir} }

// The largest trace that the tests send has a few hundred spans; there is room for each of them in a trace of its own.
const maxTraces = 10_000

// configuration is what the file is made from: where a Jaeger keeps its spans and where it listens.
type configuration struct {
	Badger    string // the folder, or "" for memory
	MaxTraces int
	// Addresses, each host:port.
	Health, OTLPGRPC, OTLPHTTP, QueryGRPC, QueryHTTP string
}

// A quoted string of Go is one of YAML.
var configFile = template.Must(template.New("").Parse(`service:
  extensions: [jaeger_storage, jaeger_query, healthcheckv2]
  pipelines:
    traces: {receivers: [otlp], exporters: [jaeger_storage_exporter]}
  telemetry:
    logs: {level: info}
    metrics: {level: none}
extensions:
  healthcheckv2: {use_v2: true, http: {endpoint: {{.Health}}}}
  jaeger_query:
    storage: {traces: spans}
    enable_tracing: false
    http: {endpoint: {{.QueryHTTP}}}
    grpc: {endpoint: {{.QueryGRPC}}}
  jaeger_storage:
    backends:
      spans:
{{- if .Badger}}
        badger:
          ephemeral: false
          directories: {keys: {{printf "%q" .Badger}}, values: {{printf "%q" .Badger}}}
          ttl: {spans: 876000h}
{{- else}}
        memory: {max_traces: {{.MaxTraces}}}
{{- end}}
receivers:
  otlp:
    protocols:
      grpc: {endpoint: {{.OTLPGRPC}}}
      http: {endpoint: {{.OTLPHTTP}}}
exporters:
  jaeger_storage_exporter: {trace_storage: spans}
`))

func (c configuration) yaml() (string, error) {
	var b strings.Builder
	err := configFile.Execute(&b, c)
	return b.String(), err
}
