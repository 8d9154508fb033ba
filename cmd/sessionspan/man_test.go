package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command has a page with its texts and flags.
func TestManPagesHaveAllCommandsAndFlags(t *testing.T) {
	dir := t.TempDir()
	if err := writeMan(newRoot(streams{}), dir, "1790000000"); err != nil {
		t.Fatal(err)
	}
	pages := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				check(sub)
			}
		}
		pages++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			return
		}
		page := strings.ReplaceAll(string(text), `\-`, "-")
		if !strings.Contains(page, cmd.Short) {
			t.Errorf("%s does not say %q", name, cmd.Short)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, "--"+f.Name) {
				t.Errorf("%s does not have --%s", name, f.Name)
			}
		})
	}
	check(newRoot(streams{}))
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != pages || pages < 4 {
		t.Errorf("%d pages for %d commands", len(files), pages)
	}
}
