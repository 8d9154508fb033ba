package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sessionspan": func() {
			os.Exit(run(context.Background(), os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
		},
	})
}

// The scripts are what a person types, and what comes of it. $SESSIONS is the project's folder of session files, $PI and $CLAUDE those of
// sessions of pi and Claude Code.
func TestScripts(t *testing.T) {
	sessions, err := filepath.Abs("../../testdata/agentsession")
	if err != nil {
		t.Fatal(err)
	}
	pi := filepath.Join(sessions, "..", "pi")
	claude := filepath.Join(sessions, "..", "claude-code")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SESSIONS", sessions)
			env.Setenv("PI", pi)
			env.Setenv("CLAUDE", claude)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else every command waits a second at its end
			return nil
		},
	})
}
