package store_test

import (
	"testing"

	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/storetest"
)

func TestMemory(t *testing.T) {
	for _, f := range []string{"", "agentsession/0.11"} {
		t.Run(f, func(t *testing.T) {
			storetest.Run(t, storetest.Options{
				New:    func(*testing.T) store.Store { return store.NewMemory() },
				Format: f,
			})
		})
	}
}
