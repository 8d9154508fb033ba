package collectorreceiver

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/collectorreceiver/internal/metadata"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func TestFactory(t *testing.T) {
	f := NewFactory()
	if f.Type().String() != "agentsession" || f.TracesStability() != component.StabilityLevelAlpha {
		t.Errorf("%v, %v", f.Type(), f.TracesStability())
	}
	if _, err := f.CreateLogs(t.Context(), receivertest.NewNopSettings(f.Type()), f.CreateDefaultConfig(), consumertest.NewNop()); err == nil {
		t.Error("it makes logs")
	}
}

// configured is the configuration that metadata.yaml has for tests.
func configured(t *testing.T) *Config {
	t.Helper()
	m, err := confmaptest.LoadConf("metadata.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sub, err := m.Sub("tests::config")
	if err != nil {
		t.Fatal(err)
	}
	c := createDefaultConfig().(*Config)
	if err := sub.Unmarshal(c); err != nil {
		t.Fatal(err)
	}
	return c
}

func create(t *testing.T, c *Config) receiver.Traces {
	t.Helper()
	r, err := NewFactory().CreateTraces(t.Context(), receivertest.NewNopSettings(metadata.Type), c, consumertest.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestShutdownWithoutStart(t *testing.T) {
	if err := create(t, configured(t)).Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLifecycle(t *testing.T) {
	c := configured(t)
	for range 2 {
		r := create(t, c)
		if err := r.Start(t.Context(), componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // and once more does no harm
			if err := r.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// metadata.yaml, documentation.md and README.md say what there is.
func TestDocuments(t *testing.T) {
	m, err := confmaptest.LoadConf("metadata.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for name := range m.ToStringMap()["telemetry"].(map[string]any)["metrics"].(map[string]any) {
		described = append(described, "otelcol_"+name)
	}
	slices.Sort(described)
	documentation, err := os.ReadFile("documentation.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, found := range regexp.MustCompile("(?m)^### `?([a-z_]+)`?$").FindAllStringSubmatch(string(documentation), -1) {
		documented = append(documented, found[1])
	}
	slices.Sort(documented)
	if diff := cmp.Diff(described, documented); diff != "" {
		t.Errorf("(-metadata.yaml +documentation.md):\n%s", diff)
	}
	tel := componenttest.NewTelemetry()
	defer func() {
		if err := tel.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	own, err := metadata.NewTelemetry(tel.NewTelemetrySettings(), component.NewID(metadata.Type), func() metadata.Counts {
		return metadata.Counts{Spans: map[string]int64{"chat": 1}}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range described {
		got, err := tel.GetMetric(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(documentation), got.Description) {
			t.Errorf("documentation.md does not say of %s: %s", name, got.Description)
		}
		is := m.Get("telemetry::metrics::" + strings.TrimPrefix(name, "otelcol_") + "::description")
		if is != got.Description || m.Get("telemetry::metrics::"+strings.TrimPrefix(name, "otelcol_")+"::unit") != got.Unit {
			t.Errorf("%s is %q in %q, and %q in metadata.yaml", name, got.Description, got.Unit, is)
		}
	}
	if err := own.Shutdown(); err != nil {
		t.Error(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, option := range []string{
		"include", "exclude", "format", "start_at", "poll_interval", "storage", "group", "naming", "semconv", "service_name",
		"max_line_size", "max_open_files", "max_state_memory", "max_line_memory", "batch::max_size", "batch::flush_timeout",
		"retry_on_failure",
	} {
		if !strings.Contains(string(readme), "| `"+option+"` |") {
			t.Errorf("README.md has no row for %s", option)
		}
	}
}
