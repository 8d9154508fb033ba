package jsonl_test

import (
	"testing"

	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/jsonl"
	"github.com/sessionspan/sessionspan/store/storetest"
)

// place is a store with its folder.
type place struct {
	*jsonl.Store
	dir string
}

func open(t *testing.T, dir string, opts ...jsonl.Option) *jsonl.Store {
	t.Helper()
	s, err := jsonl.Open(dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	for _, tc := range []struct {
		name   string
		policy jsonl.Sync
		format string
	}{
		{"always", jsonl.Always, ""},
		{"on response", jsonl.OnResponse, ""},
		{"group", jsonl.Group, ""},
		{"never", jsonl.Never, ""},
		{"never, hashed ids", jsonl.Never, "agentsession/0.11"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			storetest.Run(t, storetest.Options{
				New: func(t *testing.T) store.Store {
					dir := t.TempDir()
					return &place{open(t, dir, jsonl.WithSync(tc.policy)), dir}
				},
				Reopen: func(t *testing.T, s store.Store) store.Store {
					p := s.(*place)
					if err := p.Close(); err != nil {
						t.Fatal(err)
					}
					return &place{open(t, p.dir, jsonl.WithSync(tc.policy)), p.dir}
				},
				Format: tc.format,
			})
		})
	}
}
