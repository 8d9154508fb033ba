package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// ErrInUse: another process has the file open.
var ErrInUse = errors.New("another process uses it")

// lockWait is how long it is tried to open a file that another process has.
const lockWait = 200 * time.Millisecond

var bucket = []byte("records")

// File keeps records in a file.
type File struct{ db *bbolt.DB }

// Open opens a file, which it creates with its folder if need be. The error wraps [ErrInUse].
func Open(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%s: %w", path, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return &File{db}, nil
}

// Close lets go of the file.
func (f *File) Close() error { return f.db.Close() }

// Get returns the record of a key, nil when there is none.
func (f *File) Get(key string) (record []byte, err error) {
	err = f.db.View(func(tx *bbolt.Tx) error {
		record = bytes.Clone(tx.Bucket(bucket).Get([]byte(key)))
		return nil
	})
	return record, err
}

// Put stores records, and removes those that are nil. When it returns they are on disk, all of them or, with an error, none.
func (f *File) Put(records map[string][]byte) error {
	return f.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucket)
		for key, record := range records {
			err := b.Delete([]byte(key))
			if record != nil {
				err = b.Put([]byte(key), record)
			}
			if err != nil {
				return fmt.Errorf("record %.100q: %w", key, err)
			}
		}
		return nil
	})
}

// Each gives every record. What it gives is valid until give returns.
func (f *File) Each(give func(key string, record []byte) error) error {
	return f.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error { return give(string(k), v) })
	})
}
