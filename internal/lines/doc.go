// Package lines cuts a byte stream into lines and remembers where each one stood.
//
// A line ends at LF (0x0A) and nowhere else. What a caller decodes ([Line.Data]) comes without the LF, without one CR
// before it, and, on the first line, without a UTF-8 byte order mark; what a caller writes back ([Line.Raw]) is every
// byte as it was. The bytes of a line are valid until the next call of [Reader.Next]; [Line.Clone] keeps them.
package lines
