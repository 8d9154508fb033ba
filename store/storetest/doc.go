// Package storetest is the conformance suite of stores: what every [store.Store] owes to whoever uses one.
//
//	func TestMyStore(t *testing.T) {
//		storetest.Run(t, storetest.Options{
//			New: func(t *testing.T) store.Store {
//				return open(t, t.TempDir())
//			},
//			Reopen: func(t *testing.T, s store.Store) store.Store {
//				s.(*MyStore).Close()
//				return open(t, s.(*MyStore).dir)
//			},
//		})
//	}
//
// Each test takes a new, empty store. With [Options.Reopen], the tests of what is kept run too: they close the store and look
// at one over the same data, as a process started later would. Without it they are skipped by name.
//
// The tests are about semantics: creating, opening, appending, order under concurrency, leaves and branches, listing and filters,
// superseding, deleting, cancellation, error values, and that every line comes back byte for byte. A long random simulation then
// does the same things to the store and to [store.Memory], which is the model, and compares everything that can be seen. How
// long it goes on is [Options.Steps]; its seed is in the name of the test, which runs again as it was by that name.
//
// What a store promises of crashes and power cuts is beyond a suite that runs in one process; see package store/jsonl for how
// those are tested.
package storetest
