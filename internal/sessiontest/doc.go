// Package sessiontest makes random session files in the Agent Session Format, versions 0.2, 0.4 and 0.11, for every property
// test and benchmark of this project.
//
//	c := sessiontest.Random(rand.New(rand.NewPCG(seed, 0)), sessiontest.Options{Records: true, Branches: true})
//	for _, f := range c.Files { … f.Data … f.Truth … }
//
// A case is one session and the subsessions below it. Every file is valid: parents come first, ids are unique, runs end
// with the reason and the pending calls that their segment has, a call of a session that promises dispatches is
// dispatched before its output, and request hashes are those of the request that the path gives. With each file goes
// its [Truth]: what the generator counted while it wrote, so that a test has something to compare with that no reader
// of the file has touched.
//
// The same seed and options give the same bytes. What may happen in a session is up to the [Options]; [All] draws them
// at random, with everything in. [Realistic] and [Archive] make large files for benchmarks whose lines are as long as
// those of real sessions.
//
// The package imports nothing of this module, so that it shares no mistake with what it tests: it has a JSON writer, a
// canonical form, a request hash and a run cascade of its own, all of them slow and plain.
//
// Of the later minors there are queued inputs and triggers, instruction parts, pinned items and merged work (0.4); and, in
// 0.11, ids that are hashes, attempts, answers, calls that later runs take up, and items that requests leave out.
//
// [RandomPi] and [RandomClaude] make what pi and Claude Code write, with the truth about it. What may happen in a unit of Claude Code,
// which is a session with its agents and copies, is up to its [ClaudeOptions].
//
// # What is in a file
//
// A session is made of turns. A turn is a run, or what would be one in a session without run entries: perhaps calls left
// open before are taken up, perhaps a person says something, then model calls and the work they ask for take turns until
// the model has no call left, or something stops it. Branches, marks and silences come between turns, or, when a file
// ends anywhere, inside one.
package sessiontest
