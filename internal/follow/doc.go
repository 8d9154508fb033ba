// Package follow finds session files and reads them as they grow.
//
//	f := follow.New(follow.Options{Patterns: patterns}, nil)
//	for {
//		news := f.Poll(ctx)
//		for _, t := range news.Grown {
//			err := t.Read(ctx, 1<<20, func(l lines.Line) bool { … })
//		}
//		// wait until f.Next(), or until the notifier tells of something
//	}
//
// Session files are appended to, and that is all that happens to most of them; but they are also copied, moved, compressed, rewritten by
// repair and migration, and deleted. So what a file is, and how much of it was read, is not told by its name.
//
// # What a file is
//
// A file is known by its device and inode, where the system has them, with two witnesses: what stood at its beginning, and what stood
// just before the point up to which it was read. Both are looked at before more is read. A file with another name is the file that it
// was; another file with its name is another one. What is shorter than what was read, or holds something else, is read from its
// start, as another generation: whoever reads it knows that things come again.
//
// A line counts when its line feed is there; what stands behind the last one waits. A long line that comes in pieces is looked at
// once, and read when it is whole.
//
// A compressed file is read once, as soon as it has kept its size from one look to the next. It goes on where its plain twin
// ended, of the same name without the last ending, if it begins with what was read of that.
//
// # What it costs
//
// Files that grow are looked at every [Options.Interval], others the more seldom the longer nothing happens, down to every
// [Options.Idle]; folders at each interval too, unless that takes more than a fiftieth of the time, or a tenth while something happens in them. A [Notifier] hastens
// that and is never relied on. A few files stay open, so that what is written just before one is removed is read all the same. Links to files are
// followed, links to folders are not, but for those that a pattern begins with; pipes and devices are never opened.
package follow
