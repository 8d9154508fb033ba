package collector

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// builder is the Collector Builder that builder-config.yaml is for.
const builder = "go.opentelemetry.io/collector/cmd/builder@v0.165.0"

// builderVariable, when it is set, has the Collector built with the builder, which takes minutes.
const builderVariable = "SESSIONSPAN_BUILDER"

// A Collector that the builder makes of builder-config.yaml does what the command does.
func TestBuilderMakesACollectorThatWorks(t *testing.T) {
	if os.Getenv(builderVariable) == "" {
		t.Skipf("building a Collector with the builder takes minutes: %s=1, which make e2e sets, has it done", builderVariable)
	}
	tools, out := t.TempDir(), t.TempDir()
	run(t, tools, []string{"GOBIN=" + tools}, "go", "install", builder)
	run(t, tools, nil, filepath.Join(tools, "builder"), "--config", manifest(t, out))

	home, sessions := Home(t)
	CopySessions(t, sessions, Whole)
	sink, health := StartSink(t), FreePorts(t, 1)[0]
	Start(t, Options{
		Binary: filepath.Join(out, "sessionspan-collector"),
		Config: Example("local.yaml"),
		Env:    map[string]string{"HOME": home, "SESSIONSPAN_OTLP_ENDPOINT": sink.Address, "SESSIONSPAN_HEALTH": health},
		Health: health,
	})
	waitForSpans(t, ids(Replayed(t, sessions)), sink.Spans)
}

// manifest is builder-config.yaml, but that nothing is written into the checkout.
func manifest(t *testing.T, out string) (path string) {
	t.Helper()
	root, err := filepath.Abs(repository())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "cmd", "sessionspan-collector", "builder-config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for old, replacement := range map[string]string{
		"output_path: ./_build":         "output_path: " + out,
		"path: ../../collectorreceiver": "path: " + filepath.Join(root, "collectorreceiver"),
		"sessionspan => ../../..":       "sessionspan => " + root,
	} {
		if strings.Count(changed, old) != 1 {
			t.Fatalf("builder-config.yaml does not say %q once", old)
		}
		changed = strings.ReplaceAll(changed, old, replacement)
	}
	path = filepath.Join(t.TempDir(), "builder-config.yaml")
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}
