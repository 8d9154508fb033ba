package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/source"
)

// mayBeID reports whether an argument that should be a path may be the id of a session: nothing is at that path, and it does
// not look like one.
func mayBeID(arg string) bool {
	if arg == "" || arg == input.Stdin || strings.ContainsAny(arg, `/\*?[{`) || filepath.Ext(arg) != "" {
		return false
	}
	_, err := os.Lstat(arg)
	return errors.Is(err, fs.ErrNotExist)
}

// pathOf returns the file that an argument names: by its path, or by the id of a session in the known agents' folders, of
// which the beginning is enough. An argument that names no session stays a path, which leads nowhere.
func pathOf(ctx context.Context, arg string, o source.Options) (string, error) {
	if !mayBeID(arg) {
		return arg, nil
	}
	ix, err := archive.KnownIndex(ctx, o)
	if err != nil {
		return arg, interruptedWhile("looking for the session", arg, 0)
	}
	files, err := ix.ByID(arg)
	switch {
	case errors.Is(err, archive.ErrManyIDs):
		return arg, &exitError{exitUsage, err}
	case err != nil:
		return arg, nil
	case len(files) > 1:
		paths := make([]string, len(files))
		for i, f := range files {
			paths[i] = f.Path
		}
		return arg, usage("session %s is in several files; name one of them: %s", files[0].Session.ID, strings.Join(paths, ", "))
	}
	return files[0].Path, nil
}

// pathsOfArgs is pathOf for several arguments.
func pathsOfArgs(ctx context.Context, args []string, o source.Options) ([]string, error) {
	paths := make([]string, len(args))
	for i, arg := range args {
		var err error
		if paths[i], err = pathOf(ctx, arg, o); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// nowhere is the error of an argument that leads to no file.
func nowhere(arg string, err error) error {
	e := input.NewFileError(arg, err)
	if mayBeID(arg) {
		return &exitError{exitUsage, fmt.Errorf("%w, and no session in the known agents' folders has an id that begins so", e)}
	}
	return &exitError{exitUsage, e}
}
