// Package environment finds facts about a working directory for an env entry of the Agent Session Format (A.6): which commit
// is checked out there, and what files hold. It reads files only: it runs no program, git neither, and writes nothing.
//
//	vcs, err := environment.Git(cwd)
//	switch {
//	case errors.Is(err, environment.ErrNotGit):
//		// cwd is not under version control: leave "vcs" out
//	case err != nil:
//		return err
//	}
//	read, err := environment.HashFiles(cwd, "go.mod", "main.go")
//	entry := &format.EnvEntry{CWD: cwd, VCS: vcs, Files: &format.FileHashes{Read: read}}
//
// What a repository holds may be hostile. Nothing but regular files is opened, so that no pipe makes a caller wait; how
// much is read of them is bounded, and so is how often one reference may name another; and no reference leads out of the
// repository by its name.
package environment
