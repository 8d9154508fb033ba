// Package waterfall draws the spans of a session in a terminal.
//
// A [Collector] is a [projection.Sink] that keeps what it is given, open spans included. [Collector.Draw] writes a picture
// of each trace: a head with the facts of the session, a time axis, and one row for each span in the order of the tree.
//
//   - Idle time is folded. Work is what a model or a tool does, a run in which neither is recorded, and a wait for a person
//     that is at most half as long as that. A stretch without work that is longer than ten seconds and than a tenth of
//     all work takes one column, marked ┊ in every row, and its length is listed under the picture. Everything else is
//     to scale, save that no stretch of work vanishes.
//   - A thin bar encloses work, a thick one is work, a dashed one waits for a person, one with an arrow is still open.
//     Every span has at least one mark. The span of a session lasts a microsecond; its bar reaches around its spans.
//   - A duration has a ≤ before it where the file only bounds it, a ~ where it was inferred. Open work has none.
//   - Of a trace with more spans than [Options.MaxRows], what failed or is open has rows before what did not, and the later
//     before the earlier; the others are counted on the rows that stand for them, and under the picture.
//   - No line is wider than [Options] say. Nothing is said by colour alone; without colour there are no escape sequences at
//     all.
//   - Text that comes from a file passes [terminal.Sanitize]: it cannot move the cursor, hide, or turn the line around.
package waterfall
