package tracker

import (
	"testing"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// No record of another program, of another version or of a broken disk makes it panic, and one that is read is written as it was.
func FuzzRecord(f *testing.F) {
	f.Add((&record{Version: recordVersion, Path: "/a", Device: 1, Inode: 2, Offset: 3, Lines: 4, Sum: 5, Head: 6, Session: "s", Open: true, Last: 7}).encode())
	f.Add([]byte(`{"v":2}`))
	f.Add([]byte(`{"v":1,"offset":-1}`))
	f.Add([]byte("\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRecord(data)
		if err != nil {
			return
		}
		again, err := decodeRecord(r.encode())
		if err != nil || *again != *r {
			t.Errorf("%+v is written as %s, which is %+v, %v", r, r.encode(), again, err)
		}
	})
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
