package tracker

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/go-json-experiment/json"

	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// recordVersion is that of the form of a [record]; one of another version is not read.
const recordVersion = 2

// record is what is kept of a file between processes: how far it has been accepted, and what has to be known of it without reading it.
type record struct {
	Version int    `json:"v"`
	Path    string `json:"path"`
	Device  uint64 `json:"dev,omitzero"`
	Inode   uint64 `json:"ino,omitzero"`

	// Size and Modified are of the file when it was looked at last, in bytes and nanoseconds since 1970.
	Size     int64 `json:"size"`
	Modified int64 `json:"modified"`

	// Done: a compressed file was read to its end. OmitTo is where what is sent begins, in bytes, and OmitHead the sum of its
	// first bytes, as those of a position.
	Done     bool   `json:"done,omitzero"`
	OmitTo   int64  `json:"omit_to,omitzero"`
	OmitHead uint64 `json:"omit_head,omitzero"`

	Offset int64  `json:"offset"`
	Lines  int    `json:"lines"`
	Sum    uint64 `json:"sum"`
	Head   uint64 `json:"head"`
	// Options is the fingerprint of the options under which the spans were made, and of the recipe of their ids.
	Options uint64 `json:"options"`

	Format  string `json:"format,omitzero"`
	Session string `json:"session,omitzero"`
	Spawner string `json:"spawner,omitzero"`
	Root    string `json:"root,omitzero"`
	// Open: something was left open, and the last entry is of that time, in nanoseconds since 1970. Silent: it was taken to have ended there.
	Open   bool  `json:"open,omitzero"`
	Last   int64 `json:"last,omitzero"`
	Silent bool  `json:"silent,omitzero"`

	// Missing is since when the file was not found, in seconds since 1970; 0 when it was.
	Missing int64 `json:"missing,omitzero"`

	key string
}

var errRecord = errors.New("the checkpoint is not one that is known here")

// encode returns the record as it is kept under a key: behind a sum of both, since storages give back what a broken disk gives them.
func (r *record) encode(key string) []byte {
	data, err := json.Marshal(r)
	if err != nil { // it holds numbers and texts
		panic(err)
	}
	return append(sumOf(key, data), data...)
}

// sumOf is what stands before a record.
func sumOf(key string, data []byte) []byte {
	d := xxhash.New()
	_, _ = d.WriteString(key) // which never fails, nor does the other
	_, _ = d.Write(data)
	return fmt.Appendf(nil, "%016x ", d.Sum64())
}

const sumSize = 17

func decodeRecord(key string, kept []byte) (*record, error) {
	if len(kept) < sumSize || !bytes.Equal(kept[:sumSize], sumOf(key, kept[sumSize:])) {
		return nil, fmt.Errorf("%w: its sum is another one", errRecord)
	}
	data := kept[sumSize:]
	r := &record{key: key}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	if r.Version != recordVersion || r.Offset < 0 || r.Lines < 0 || r.OmitTo < 0 {
		return nil, fmt.Errorf("%w: version %d", errRecord, r.Version)
	}
	return r, nil
}

func (r *record) position() follow.Position {
	return follow.Position{Offset: r.Offset, Lines: r.Lines, Sum: r.Sum, Head: r.Head}
}

func (r *record) known() follow.Known {
	return follow.Known{Position: r.position(), Path: r.Path, Size: r.Size, Modified: time.Unix(0, r.Modified), Done: r.Done}
}

// recordKey is the key of a file's record: what the file is, where that can be told, else its path.
func recordKey(path string, id follow.ID) string {
	if id != (follow.ID{}) {
		return fmt.Sprintf("file:%x:%x", id.Device, id.Inode)
	}
	return "path:" + path
}

// fingerprint is that of the options which decide what spans there are.
func fingerprint(o projection.Options, generation string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s\x00%s", projection.Recipe, o.Group, o.Naming, o.Semconv, o.Salt)
	if generation != "" {
		fmt.Fprintf(h, "\x00%s", generation)
	}
	return h.Sum64()
}
