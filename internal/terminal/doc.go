// Package terminal is what everything that is written for people has in common: text that is safe to print, how wide it is,
// the colours, and how numbers and durations are written.
//
//   - A [Look] says what a terminal can show: its width, colours, other characters than ASCII. [LookOf] finds it.
//   - Text that comes from a file passes [Sanitize], by itself or through [Look.Text]: it cannot move the cursor, hide, or
//     turn the line around.
//   - A [Piece] is text in one [Ink]. Inks are of the basic eight colours, with bold and faint, and mean the same in every
//     drawing; nothing is said by colour alone. [Look.Fit] and [Look.Line] make a line of pieces.
package terminal
