package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"

	"github.com/sessionspan/sessionspan/format"
)

// HashFile returns the content hash of a file, of whatever size, as [format.HashBytes] that of bytes. The error wraps [ErrNotRegular] for what is no file with a
// content, and otherwise is that of the file system.
func HashFile(path string) (string, error) {
	f, err := open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return format.HashPrefix + hex.EncodeToString(h.Sum(nil)), nil
}

// HashFiles returns the content hashes of files, keyed by their paths as given, as [format.FileHashes] has them. A path that
// is not absolute is looked for in dir. What can be hashed is in the map also when the error is not nil; that joins the
// errors of all other paths, in their order.
func HashFiles(dir string, paths ...string) (map[string]string, error) {
	hashes := make(map[string]string, len(paths))
	var errs []error
	for _, path := range paths {
		at := path
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		hash, err := HashFile(at)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		hashes[path] = hash
	}
	return hashes, errors.Join(errs...)
}
