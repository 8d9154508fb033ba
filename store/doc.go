// Package store keeps the sessions of an agent.
//
//	s := store.NewMemory() // or jsonl.Open(dir), or sqlite.Open(ctx, path)
//	session, err := s.Create(ctx, format.Header{CWD: cwd})
//	id, err := s.Append(ctx, session.ID(), format.NewItem(openresponses.UserText("Hello.")))
//
// [Store] is the interface, with what each operation owes; packages store/jsonl and store/sqlite implement it, and package
// store/storetest is the suite that all of them run.
//
// # A model call
//
// [RecordResponse] writes one model call to a session, in the order and with the hash that the format asks for, through
// anything that can append:
//
//	_, err := store.RecordResponse(ctx, sessions, id, request, response, time.Since(start))
//
// What the call was given, the user's items and the outputs of calls, is appended before the request is sent.
//
// # Several goroutines
//
// A session that a store returns is shared with it, and an append goes on from its leaf. Goroutines that work on one branch after
// the other may leave it at that: their appends get one order, and each continues the one before. Those that work on branches of
// their own name the parent of each entry (Envelope.Parent), or they would continue each other's.
//
// # Longer than one session
//
// [Continue] goes on with a session in a new one, and retires the old one, so that a list of current sessions
// ([ListFilter.Current]) has the new one alone. Nothing refuses further appends to the old one but a store made by
// [RefuseSuperseded].
package store
