package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// ErrInUse: another process has the file open.
var ErrInUse = errors.New("another process uses it")

// ErrDamaged: the file does not hold what was put into it.
var ErrDamaged = errors.New("the file is damaged; without it all begins anew")

// lockWait is how long it is tried to open a file that another process has.
const lockWait = 200 * time.Millisecond

var bucket = []byte("records")

// File keeps records in a file.
type File struct{ db *bbolt.DB }

// guard has what comes of a damaged file be an error. The file is mapped into memory and trusted to be whole: what is wrong in it shows as a
// panic, or as a fault.
func guard(work func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w (%v)", ErrDamaged, r)
		}
	}()
	return work()
}

// Open opens a file, which it creates with its folder if need be. The error wraps [ErrInUse] or [ErrDamaged].
func Open(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	var db *bbolt.DB
	err := guard(func() (err error) {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait})
		return err
	})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%s: %w", path, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &File{db}
	err = f.update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	if err == nil {
		err = f.Each(func(string, []byte) error { return nil })
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, nil
}

// Close lets go of the file.
func (f *File) Close() error { return guard(f.db.Close) }

func (f *File) view(work func(*bbolt.Tx) error) error {
	return guard(func() error { return f.db.View(work) })
}

func (f *File) update(work func(*bbolt.Tx) error) error {
	return guard(func() error { return f.db.Update(work) })
}

// Get returns the record of a key, nil when there is none.
func (f *File) Get(key string) (record []byte, err error) {
	err = f.view(func(tx *bbolt.Tx) error {
		record = bytes.Clone(tx.Bucket(bucket).Get([]byte(key)))
		return nil
	})
	return record, err
}

// Put stores records, and removes those that are nil. When it returns they are on disk, all of them or, with an error, none.
func (f *File) Put(records map[string][]byte) error {
	return f.update(func(tx *bbolt.Tx) error {
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
	return f.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error { return give(string(k), v) })
	})
}
