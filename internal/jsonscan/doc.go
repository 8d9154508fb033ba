// Package jsonscan is the first stage of decoding: it checks that a line is exactly one JSON object and finds the members
// of that object, and of one object nested in it, in a single pass and without allocating. What a member's value holds is
// decoded by whoever needs it, with the functions on raw values here or with a JSON package.
//
// It checks the structure: RFC 8259 with repeated names allowed, at most 10,000 levels of nesting, and at most 65,536 members
// in one object, wherever in the line it stands, so that a list of the members of any of them is short. The elements of
// arrays are not counted: nothing here lists them. It does not look into strings beyond finding their end, since session
// lines are mostly long texts that nobody asks for: a text with a stray control character, a cut UTF-8 sequence or an odd
// escape does not cost the entry around it. A string is checked when it is decoded ([String]). In other words, within its
// limits it accepts what the jsontext package accepts once the inside of every string is blanked out. Members come in the
// order of the text, repeated names included.
//
// A raw value is the text of one JSON value without white space around it, such as [Member.Value]. The functions on raw
// values never panic; of another kind of value, or of text that is no value, they return false.
package jsonscan
