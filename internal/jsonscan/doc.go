// Package jsonscan is the first stage of decoding: it checks that a line is exactly one JSON object and finds the members
// of that object, and of one object nested in it, in a single pass and without allocating. What a member's value holds is
// decoded by whoever needs it, with the functions on raw values here or with a JSON package.
//
// It accepts what the jsontext package accepts with duplicate names allowed: RFC 8259 with valid UTF-8, no escapes of
// lone surrogates, and at most 10,000 levels of nesting. Members come in the order of the text, repeated names included.
//
// A raw value is the text of one JSON value without white space around it, such as [Member.Value]. The functions on raw
// values never panic; of another kind of value, or of text that is no value, they return false.
//
// Session lines are mostly long strings, so the search for the end of a string decides the speed. It looks at 8 or 64
// bytes at a time with integer arithmetic; see skipString.
package jsonscan
