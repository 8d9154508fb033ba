package main

import (
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/spf13/cobra"
)

// anyState is the default of --state.
const anyState = "any"

// states are those of which one is wanted, none for any.
type states struct {
	text   string
	wanted []archive.State
	meant  []string // what was read as another word than was typed
}

func (s *states) flags(cmd *cobra.Command) {
	words := []string{anyState}
	for _, st := range archive.States {
		words = append(words, string(st))
	}
	list := strings.Join(words, ", ")
	cmd.Flags().StringVar(&s.text, "state", anyState, "only sessions in this state, or in one of several, with commas between: "+list)
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
	check(cmd, func() error {
		for typed := range strings.SplitSeq(s.text, ",") {
			word := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(typed)))
			if !slices.Contains(words, word) {
				return usage("--state %q: want one of %s", typed, list)
			}
			if word != typed {
				s.meant = append(s.meant, "--state "+typed+" is read as "+word)
			}
			s.wanted = append(s.wanted, archive.State(word))
		}
		if slices.Contains(s.wanted, anyState) {
			s.wanted = nil
		}
		return nil
	})
}

func (s *states) wants(state archive.State) bool {
	return len(s.wanted) == 0 || slices.Contains(s.wanted, state)
}
