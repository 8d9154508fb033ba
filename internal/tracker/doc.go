// Package tracker turns session files into spans as they grow, and gives them to a consumer, each at least once.
//
//	t, err := tracker.New(tracker.Options{Follow: follow.Options{Patterns: patterns}, Checkpoints: kept}, consumer)
//	defer t.Close()
//	err = errors.Join(t.Run(ctx), t.Flush(context.WithoutCancel(ctx)))
//
// The spans are those of a replay of the files, to the id, whatever happens to the files and to whoever follows them. So what is given again,
// after a crash, to a restored folder, from a copy, is equal to what was given before.
//
// # Progress
//
// A file is read on, its lines go through the source's decoder and the projector, and the spans that end go into a batch. Once the consumer
// has accepted that, and not before, the file's position is where it was then, and is stored with what has to be known of the file
// without reading it: its session, who spawned that, which session is at the top of its trace, whether something is open. After a
// restart files that have not changed are not read; one that has grown is read from its start once more, with the output off up to its
// position, since what comes depends on what was.
//
// What the consumer refuses for now is tried again, each file by itself, longer and longer apart; its file is not read on much further, others
// are. While much is waiting nothing is read. What it refuses for good is told and passed.
//
// # What ends without a word
//
// A session in which nothing happens for 24 hours has ended what was open, at its last entry, as everywhere ([projection.Silence]). For files
// that were seen to grow that is also by a clock that nobody sets.
//
// # Memory
//
// The state of a session is its projector's, some 180 bytes an entry. That of those that were read last is kept, within a budget; the others
// are read again when their file grows.
package tracker
