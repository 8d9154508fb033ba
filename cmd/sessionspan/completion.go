package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sessionFiles are the endings of what is offered for a path, beside folders.
var sessionFiles = []string{"jsonl", "jsonl.gz", "jsonl.zst"}

// completePaths gives the commands below root the completion that their usage asks for: session files and folders for
// PATH and FILE, and of a flag, by what its usage calls the value, files for FILE, folders for DIR, and nothing for the
// rest. What has its own, such as a flag that takes words, keeps it.
func completePaths(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
			if _, args, _ := strings.Cut(cmd.Use, " "); strings.Contains(args, "PATH") || strings.Contains(args, "FILE") {
				cmd.ValidArgsFunction = completeSessions
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { completeValue(cmd, f) })
	}
}

func completeValue(cmd *cobra.Command, f *pflag.Flag) {
	if _, have := cmd.GetFlagCompletionFunc(f.Name); have || f.NoOptDefVal != "" {
		return
	}
	complete := cobra.NoFileCompletions
	switch what, _ := pflag.UnquoteUsage(f); what {
	case "FILE": // the shell's own
		return
	case "DIR":
		complete = completeFolders
	}
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc(f.Name, complete))
}

func completeSessions(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return slices.Clone(sessionFiles), cobra.ShellCompDirectiveFilterFileExt
}

func completeFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
