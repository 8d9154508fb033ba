// Package projection turns the activity of a session into OpenTelemetry spans. Every rule about their names, ids, parents,
// links, attributes and status lives here and nowhere else.
//
// A [Projector] is fed the events of one session file, in file order, and gives spans to a [Sink]:
//
//	p := projection.New(projection.Options{}, sink)
//	for ev := range events {
//		p.Feed(ev)
//	}
//	p.Silent(time.Now()) // what has been silent for a day has ended
//
// The same events give the same spans, whoever reads them, live or later, once or again. A file that has grown gives what
// it gave before, and more.
//
// # Who may end a span
//
// Only the file. A span goes out once and complete, since many backends keep the first copy that they see, so nothing
// that is not in the file ends one: not a timer, not the end of a file that may still grow. What is open when reading stops
// is withheld and counted ([Projector.Open]). A [Silence] of 24 hours ends what is open, at the last entry: between two
// entries wherever it is read, and at the end of the file as [Projector.Silent] is told. [Projector.Finish] is somebody
// saying that nothing more will come. What comes later all the same opens new spans, linked to these.
//
// # The tree
//
// A branch is an entry whose parent is not the leaf under the format's leaf rule. Its spans go on from the state at that
// parent: the run, the settings, the pending calls, the last model call. The run that is left ends as a segment, cut off
// but no error; entries that reach it again open its next segment, linked to the last. The first span of a branch links
// to the span nearest above the branching point.
//
// Links are final when a span starts, and most entries make none. What an entry merges, and the session that copied history
// comes from, is due on the path until its next span starts ([activity.Event.Merged]). Entries that lead elsewhere
// themselves, an input that waited and a judge, have a span of their own.
//
// The state at an entry is a value; what an entry does to it is a list of changes. States are kept at one entry in 64 of a
// path, and made again from there, so that a branch, wherever it starts, goes back over 64 entries at most. What an entry
// costs in memory once it has been read is measured by BenchmarkMemory of internal/archive: about 150 bytes.
//
// # Times
//
// File order is the order; times only place things. Chat and tool spans say how theirs are known (agentsession.timing).
// A parent other than the mark of a session encloses its children; where a clock that steps back makes that untrue, times
// are clamped and agentsession.clock.adjusted says so.
//
// # Ids
//
// Ids are pure functions of what the file and the headers of its ancestors say. Each is a SHA-256 over netstrings
// ("5:hello,") of these fields, cut to length; an id of zeros, which OpenTelemetry forbids, gets a last byte of 1:
//
//	trace id (16 bytes)   recipe, "trace", salt, root session id
//	                      with a trace for each run: root session id, session id, run id
//	span id  (8 bytes)    recipe, "span", salt, session id, span type, key…
//
// The recipe is "sessionspan/1", the salt is empty unless another set of ids is asked for. A trace with sessions of its
// own for each run takes the session's own id for what lies outside runs. The key is
//
//	session     nothing
//	run         "run", the run's id or else the key of the entry that opens it, the segment counted from 1
//	chat        "response", the provider's response id; also the entry's key when the file had that id before
//	            "entry", the entry's key, where there is no response id
//	tool        the call id, the span of that call counted from 1 in file order; also the key of the entry that holds the
//	            call, when the file had a call of that id before, or has it from another session's history
//	approval, compaction, branch, event
//	            the entry's key
//
// with the key of an entry followed by the number of its part when that is not the first.
//
// So the first span of a call, from which a subsession hangs, follows from the two members that the header of the
// subsession has. Test vectors, for the session 01995b2a-0000-7000-8000-000000000005 without a salt:
//
//	trace                                        20ecaec77f90a88811b3e6c02e88df97
//	trace of the run run-1                       c674090abe2a4835238e0db26ce81340
//	span  session                                1802830edf6852a3
//	span  run       run, run-1, 1                d1c10e3dcec679f7
//	span  chat      response, resp_1             88a210edc7697625
//	span  tool      call_1, 1                    a5786c5d30132653
//	span  approval  d0000001                     5c92591e459a0e42
package projection
