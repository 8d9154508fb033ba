package tracker

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// No record of another program or of another version makes it panic, and one that is read is written as it was.
func FuzzRecord(f *testing.F) {
	f.Add(someRecord().encode("key")[sumSize:])
	f.Add([]byte(`{"v":2}`))
	f.Add([]byte(`{"v":1,"offset":-1}`))
	f.Add([]byte("\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := decodeRecord("key", data); err == nil {
			t.Errorf("%q is read without its sum", data)
		}
		r, err := decodeRecord("key", append(sumOf("key", data), data...))
		if err != nil {
			return
		}
		again, err := decodeRecord("key", r.encode("key"))
		if err != nil || *again != *r {
			t.Errorf("%+v is written as %s, which is %+v, %v", r, r.encode("key"), again, err)
		}
	})
}

func someRecord() *record {
	return &record{
		Version: recordVersion, Path: "/a", Device: 1, Inode: 2, Offset: 3, Lines: 4, Sum: 5, Head: 6, Session: "s", Open: true, Last: 7,
	}
}

// A record that a broken disk gives back is not read, nor one of another key.
func TestDamagedRecord(t *testing.T) {
	whole := someRecord().encode("key")
	if _, err := decodeRecord("key", whole); err != nil {
		t.Fatal(err)
	}
	if _, err := decodeRecord("kez", whole); !errors.Is(err, errRecord) {
		t.Errorf("under another key: %v", err)
	}
	for i := range len(whole) * 8 {
		data := bytes.Clone(whole)
		data[i/8] ^= 1 << (i % 8)
		if _, err := decodeRecord("key", data); !errors.Is(err, errRecord) {
			t.Errorf("with bit %d flipped: %v", i, err)
		}
	}
	for n := range whole {
		if _, err := decodeRecord("key", whole[:n]); !errors.Is(err, errRecord) {
			t.Errorf("cut off after %d bytes: %v", n, err)
		}
	}
}

// Options that make other spans have another fingerprint.
func TestFingerprint(t *testing.T) {
	seen := map[uint64]bool{}
	for _, o := range []projection.Options{
		{}, {Group: projection.GroupRun}, {Naming: projection.NamingAgentsession}, {Semconv: projection.SemconvLatest}, {Salt: "x"},
	} {
		for _, generation := range []string{"", "x", "y"} {
			f := fingerprint(o, generation)
			if seen[f] {
				t.Errorf("%+v, %q has the fingerprint of another", o, generation)
			}
			seen[f] = true
		}
	}
}
