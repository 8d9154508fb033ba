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

// What a page shows as it stands fits into a terminal of 80 columns, and no word of it is lost.
func TestWrapped(t *testing.T) {
	for in, want := range map[string]string{
		"short      one":                     "short      one",
		"no column to stand below, and long": "no column to stand\nbelow, and long",
		"open       a run or a call that is": "open       a run or\n           a call\n           that is",
		"  indented and too long for it all": "  indented and too\n  long for it all",
		"x  averyveryverylongword with more": "x  averyveryverylongword\n   with more",
	} {
		if got := wrapped(in, 20); got != want {
			t.Errorf("%q becomes\n%s\nwant\n%s", in, got, want)
		}
	}
}
