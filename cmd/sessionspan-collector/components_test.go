package main

import (
	"cmp"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component"
	"go.yaml.in/yaml/v3"
)

// The components that the examples and what is promised of the command need are there, and have their names.
func TestComponents(t *testing.T) {
	factories, err := components()
	if err != nil {
		t.Fatal(err)
	}
	for kind, tc := range map[string]struct{ got, want []string }{
		"receivers":  {types(factories.Receivers), []string{"agentsession", "otlp"}},
		"processors": {types(factories.Processors), []string{"attributes", "delta_to_cumulative", "memory_limiter", "resource"}},
		"exporters":  {types(factories.Exporters), []string{"debug", "file", "load_balancing", "otlp_grpc", "otlp_http", "prometheus"}},
		"connectors": {types(factories.Connectors), []string{"signal_to_metrics"}},
		"extensions": {types(factories.Extensions), []string{"file_storage", "health_check"}},
	} {
		if diff := gocmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: -want +got\n%s", kind, diff)
		}
	}
	if factories.Telemetry == nil {
		t.Error("without a factory of its telemetry a Collector does not start")
	}
}

// types are the names of components, without those that are only there for configurations of long ago.
func types[F component.Factory](factories map[component.Type]F) []string {
	var names []string
	for name, factory := range factories {
		if factory.Type() == name {
			names = append(names, name.String())
		}
	}
	slices.Sort(names)
	return names
}

// The manifest of the builder names what the command imports, in the versions that the command is built with.
func TestBuilderMakesTheSame(t *testing.T) {
	type modules []struct {
		GoMod string `yaml:"gomod"`
	}
	var manifest struct{ Receivers, Processors, Exporters, Connectors, Extensions, Providers modules }
	if err := yaml.Unmarshal(file(t, "builder-config.yaml"), &manifest); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, list := range []modules{
		manifest.Receivers, manifest.Processors, manifest.Exporters, manifest.Connectors, manifest.Extensions, manifest.Providers,
	} {
		for _, m := range list {
			named = append(named, m.GoMod)
		}
	}
	slices.Sort(named)
	if diff := gocmp.Diff(imported(t), named); diff != "" {
		t.Errorf("-the command's +builder-config.yaml's:\n%s", diff)
	}
}

// framework is what every Collector is made of; the builder adds it by itself.
var framework = []string{
	"go.opentelemetry.io/collector/component", "go.opentelemetry.io/collector/confmap", "go.opentelemetry.io/collector/connector",
	"go.opentelemetry.io/collector/exporter", "go.opentelemetry.io/collector/extension", "go.opentelemetry.io/collector/otelcol",
	"go.opentelemetry.io/collector/processor", "go.opentelemetry.io/collector/receiver",
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry",
	"github.com/spf13/cobra",
}

// imported are the modules of the components that the command imports, with the versions in its go.mod.
func imported(t *testing.T) []string {
	t.Helper()
	versions := map[string]string{}
	for line := range strings.Lines(string(file(t, "go.mod"))) {
		if fields := strings.Fields(line); len(fields) >= 2 && strings.HasPrefix(fields[1], "v") {
			versions[fields[0]] = fields[1]
		}
	}
	var modules []string
	for _, name := range []string{"main.go", "components.go"} {
		source, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range source.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(path, ".") || slices.Contains(framework, path) {
				continue
			}
			version := versions[path]
			if path == "github.com/sessionspan/sessionspan/collectorreceiver" {
				version = "v0.0.0" // the one beside it
			}
			modules = append(modules, path+" "+cmp.Or(version, "of no version"))
		}
	}
	slices.Sort(modules)
	return modules
}
