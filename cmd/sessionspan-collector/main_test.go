package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"go.opentelemetry.io/collector/confmap"
)

// execute runs the command and returns what it prints.
func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := command()
	var out bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestConfigurationsAreValid(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, tc := range []struct {
		name string
		args []string
		want string // in the error
	}{
		{"its own", nil, ""},
		{"its own, changed", []string{"--set", "exporters.debug.verbosity=basic"}, ""},
		{"its own, changed to what there is not", []string{"--set", "exporters.debug.verbosity=loud"}, "loud"},
		{"another", []string{"--config", "yaml:service: {}"}, "at least one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := execute(t, append([]string{"validate"}, tc.args...)...)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q\n%s", err, tc.want, out)
			}
		})
	}
	for _, path := range examples(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if out, err := execute(t, "validate", "--config", path); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	out, err := execute(t, "--version")
	if want := "sessionspan-collector version " + version() + "\n"; err != nil || out != want {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
}

func TestArgumentThatNobodyKnows(t *testing.T) {
	if out, err := execute(t, "sessions"); err == nil {
		t.Errorf("it says nothing of an argument that it does not know:\n%s", out)
	}
}

// The command's own configuration and those of the examples that follow sessions look where the known agents keep theirs, with and
// without the variables that say otherwise.
func TestKnownAgentsAreFollowed(t *testing.T) {
	sources := append(examples(t), "yaml:"+terminal)
	following := 0
	for _, set := range []bool{false, true} {
		home := t.TempDir()
		t.Setenv("HOME", home)
		for _, name := range []string{"PI_CODING_AGENT_SESSION_DIR", "PI_CODING_AGENT_DIR", "ORB_SESSION_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
			t.Setenv(name, filepath.Join(home, strings.ToLower(name)))
			if !set {
				if err := os.Unsetenv(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		want, err := archive.Folders(archive.AnyAgent)
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			list, ok := resolve(t, source).Get("receivers::agentsession::include").([]any)
			if !ok {
				continue
			}
			following++
			var got []string
			for _, of := range list {
				path := of.(string)
				if below, ok := strings.CutPrefix(path, "~/"); ok {
					path = filepath.Join(home, below)
				}
				got = append(got, path)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%.60s: -the agents' +its:\n%s", source, diff)
			}
		}
	}
	if want := 2 * 4; following != want {
		t.Errorf("%d configurations follow sessions, want %d", following, want)
	}
}

// variable is one that a configuration reads, or that the documentation names.
var variable = regexp.MustCompile(`SESSIONSPAN_[A-Z0-9_]+`)

// Every variable of the examples is in the table of their documentation, and no other one.
func TestVariablesAreDocumented(t *testing.T) {
	read, documented := map[string]bool{}, map[string]bool{}
	for _, path := range examples(t) {
		for name := range variables(t, path) {
			read[name] = true
		}
	}
	for line := range strings.Lines(string(file(t, "../../examples/collector/README.md"))) {
		if strings.HasPrefix(line, "| `SESSIONSPAN_") {
			for _, name := range variable.FindAllString(line, -1) {
				documented[name] = true
			}
		}
	}
	if diff := cmp.Diff(read, documented); diff != "" || len(read) == 0 {
		t.Errorf("-read +documented:\n%s", diff)
	}
}

// variables are those that a configuration reads.
func variables(t *testing.T, path string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, part := range strings.Split(string(file(t, path)), "${env:")[1:] {
		if name := variable.FindString(part); name != "" && strings.HasPrefix(part, name) {
			names[name] = true
		}
	}
	return names
}

func file(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// resolve reads a configuration as the command does, with variables in their places.
func resolve(t *testing.T, source string) *confmap.Conf {
	t.Helper()
	set := settings().ConfigProviderSettings.ResolverSettings
	set.URIs, set.DefaultScheme = []string{source}, "env"
	resolver, err := confmap.NewResolver(set)
	if err != nil {
		t.Fatal(err)
	}
	conf, err := resolver.Resolve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := resolver.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	return conf
}

func examples(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../examples/collector/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	return paths
}
