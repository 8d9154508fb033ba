// Package openresponses has the payload of a session: the items of a conversation, the requests that were sent to a model
// and the responses that came back, in the shapes of Open Responses. Section numbers in this documentation, such as A.5 and
// A.8, are those of docs/format.md.
//
// # One item
//
// An [Item] is raw JSON behind a small view: its type, and role, call id and name where it has them. Builders write the JSON
// once:
//
//	openresponses.UserText("List the files.")
//	openresponses.NewFunctionCall("call_1", "bash", `{"cmd":"ls"}`)
//	openresponses.NewFunctionCallOutput("call_1", "a.txt")
//
// [ParseItem] takes JSON that exists. [Item.Text] and [Item.Preview] say what an item says to people, whatever its type.
//
// # What an item holds
//
// [Item.Message], [Item.FunctionCall], [Item.FunctionCallOutput], [Item.Reasoning], [Item.Compaction] and [Item.Reference]
// decode an item into a struct:
//
//	call, err := item.FunctionCall()
//	if errors.Is(err, openresponses.ErrItemType) {
//		… // another item
//	}
//	fmt.Println(call.Name, call.Arguments)
//
// [Item.Members] has the members of an item of any type, and [Extension] builds one of a type of your own. Tools are done
// the same way: [Tool], [ParseTool], [Tool.Function], [FunctionTool].
//
// # Nothing is lost
//
// Each struct has the members that it does not know, in order, in Unknown or Extra, and so numbers keep their spelling. A
// null, an empty string or an empty array that a field cannot tell from absence is there as well. Writing a struct (Item,
// Tool or JSON) puts them after those of the fields; one with the name of a field that is set is left out.
//
// What is written is the normal form (A.8), by which request hashes of different writers agree: the content of a message is
// an array of parts, a text part has its text and an output_text its annotations, an image its url and detail, a function
// tool a description and parameters, reasoning settings an effort and a summary, text settings a format. Views accept every
// form. Where bytes matter, use an item's Raw and leave it as it is.
//
// # A model call
//
// A [Request] has the settings and input of one call, [Response] and [Usage] what came of it. Items and tools go in
// verbatim. [Request.Hash] is the hash by which a session tells that its record of a request is right; [HashJSON] computes
// it from the bytes that were sent.
//
// # Rules
//
// Raw values in what Parse… and views return point into what they were given, which may not change afterwards: whoever uses
// bytes again gives a copy, or keeps one by Clone. Raw values that are put into a struct have to be JSON: [ParseItem] on the
// item that was built tells. A raw value without any bytes counts as absent, and line feeds in raw values become spaces, so
// that what is built is one line.
//
// The error about a member of the wrong kind wraps [ErrInvalid] and says which member of what. No input causes a panic, and
// time and memory grow in proportion to it; a list of parts has at most 65,536. Of members with the same name the last
// counts; a request that has such members has no hash.
package openresponses
