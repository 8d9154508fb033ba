package collectorreceiver

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
)

// load reads the one receiver of a file.
func load(t *testing.T, name string) (*Config, error) {
	t.Helper()
	file, err := confmaptest.LoadConf(filepath.Join("testdata", "config", name))
	if err != nil {
		t.Fatal(err)
	}
	c := createDefaultConfig().(*Config)
	for id := range file.ToStringMap() {
		sub, err := file.Sub(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.Unmarshal(c); err != nil {
			return nil, err
		}
	}
	return c, confmap.Validate(c)
}

func TestConfig(t *testing.T) {
	storage := component.MustNewIDWithName("file_storage", "progress")
	retry := configretry.NewDefaultBackOffConfig()
	retry.InitialInterval, retry.MaxInterval, retry.MaxElapsedTime = 2*time.Second, 10*time.Second, time.Hour
	for _, tc := range []struct {
		file string
		want *Config
	}{
		{"default.yaml", func() *Config {
			c := createDefaultConfig().(*Config)
			c.Include = []string{"/var/lib/agents"}
			return c
		}()},
		{"all.yaml", &Config{
			Include: []string{"/srv/*/sessions/**/*.jsonl", "/var/lib/agents"}, Exclude: []string{"**/tmp/**"},
			Format: "agentsession", StartAt: "end", PollInterval: 250 * time.Millisecond, StorageID: &storage,
			Group: "run", Naming: "agentsession", Semconv: "latest", ServiceName: "agents",
			MaxLineSize: 16 << 20, MaxOpenFiles: 32, MaxStateMemory: 64 << 20, MaxLineMemory: 32 << 20,
			Batch: BatchConfig{512 << 10, 200 * time.Millisecond}, RetryOnFailure: retry,
		}},
	} {
		t.Run(tc.file, func(t *testing.T) {
			c, err := load(t, tc.file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, c, cmp.AllowUnexported(component.ID{}, component.Type{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a configuration is written as is read as the same.
func TestConfigRoundTrip(t *testing.T) {
	for _, file := range []string{"default.yaml", "all.yaml"} {
		t.Run(file, func(t *testing.T) {
			c, err := load(t, file)
			if err != nil {
				t.Fatal(err)
			}
			written := confmap.New()
			if err := written.Marshal(c); err != nil {
				t.Fatal(err)
			}
			again := createDefaultConfig().(*Config)
			if err := written.Unmarshal(again); err != nil {
				t.Fatalf("%v\n%v", err, written.ToStringMap())
			}
			if diff := cmp.Diff(c, again, cmp.AllowUnexported(component.ID{}, component.Type{})); diff != "" {
				t.Errorf("(-first +again):\n%s", diff)
			}
		})
	}
}

func TestBadConfig(t *testing.T) {
	for file, want := range map[string][]string{
		"bad-no-include.yaml":    {"include: name at least one file"},
		"bad-glob.yaml":          {`include "/x/["`, "syntax error in pattern"},
		"bad-exclude.yaml":       {`exclude "/x/{a"`, "syntax error in pattern"},
		"bad-format.yaml":        {"format: ", `"nothing"`, "auto", "agentsession"},
		"bad-start-at.yaml":      {`start_at "middle": want beginning or end`},
		"bad-group.yaml":         {`group "day": want session or run`},
		"bad-naming.yaml":        {`naming "mine": want genai or agentsession`},
		"bad-semconv.yaml":       {`semconv "0.1": want `},
		"bad-poll-interval.yaml": {"poll_interval 1ms: want 10ms or more"},
		"bad-line-size.yaml":     {"max_line_memory 1.0 MiB: want at least max_line_size, which is 61 MiB"},
		"bad-size.yaml":          {"max_line_size", `"many" is no size`},
		"bad-batch.yaml":         {"batch::max_size 0", "batch::flush_timeout 0s"},
		"bad-retry.yaml":         {"retry_on_failure", "initial_interval"},
		"bad-option.yaml":        {"includes"},
		"bad-open-files.yaml":    {"max_open_files 0", "max_state_memory 0"},
	} {
		t.Run(file, func(t *testing.T) {
			_, err := load(t, file)
			if err == nil {
				t.Fatal("it is taken")
			}
			for _, part := range want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// Every file below testdata/config is in one of the tests.
func TestConfigFilesAreUsed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "config", "*.yaml"))
	if err != nil || len(files) != 17 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

func TestConfigStruct(t *testing.T) {
	if err := componenttest.CheckConfigStruct(NewFactory().CreateDefaultConfig()); err != nil {
		t.Error(err)
	}
}
