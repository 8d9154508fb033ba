package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/sqlite"
	"github.com/sessionspan/sessionspan/store/storetest"
)

// place is a store with its path.
type place struct {
	*sqlite.Store
	path string
}

func open(t *testing.T, path string, opts ...sqlite.Option) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opts...)
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
		opts   []sqlite.Option
		format string
	}{
		{"full sync", nil, ""},
		{"relaxed", []sqlite.Option{sqlite.WithRelaxedSync()}, ""},
		{"hashed ids", []sqlite.Option{sqlite.WithRelaxedSync()}, "agentsession/0.11"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			storetest.Run(t, storetest.Options{
				New: func(t *testing.T) store.Store {
					path := filepath.Join(t.TempDir(), "sessions.db")
					return &place{open(t, path, tc.opts...), path}
				},
				Reopen: func(t *testing.T, s store.Store) store.Store {
					p := s.(*place)
					if err := p.Close(); err != nil {
						t.Fatal(err)
					}
					return &place{open(t, p.path, tc.opts...), p.path}
				},
				Format: tc.format,
			})
		})
	}
}
