package openresponses

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Item is one payload item as raw JSON behind a small view. Everything else about an item is decoded only when
// somebody asks for it.
type Item struct {
	// Raw is the item as written.
	Raw jsontext.Value
	// Type is one of the Item… constants, or a slug-prefixed extension such as "acme:note".
	Type string
	// Role is the role of a message: user, assistant, system, developer.
	Role string
	// CallID joins a call and its output.
	CallID string
	// Name is the tool name of a function call.
	Name string
}

// Item types of the payload profile (A.5).
const (
	ItemMessage            = "message"
	ItemFunctionCall       = "function_call"
	ItemFunctionCallOutput = "function_call_output"
	ItemReasoning          = "reasoning"
	ItemCompaction         = "compaction"
	ItemReference          = "item_reference"
)

// ParseItem returns the item that raw is: a JSON object with a type, whatever the type. The item's Raw points into raw,
// which the caller may not change afterwards; [Item.Clone] copies it.
func ParseItem(raw jsontext.Value) (Item, error) {
	object, err := checked("item", raw)
	if err != nil {
		return Item{}, err
	}
	return itemView("item", object, new(jsonscan.Scanner))
}

// itemView makes the view of an item that is known to be JSON.
func itemView(what string, raw []byte, scan *jsonscan.Scanner) (Item, error) {
	item, err := untypedView(what, raw, scan)
	if err == nil && item.Type == "" {
		return Item{}, invalid(what, "has no type")
	}
	return item, err
}

// inputView makes the view of an item of a request, in which messages and references may do without a type.
func inputView(what string, raw []byte, scan *jsonscan.Scanner) (Item, error) {
	item, err := untypedView(what, raw, scan)
	if err == nil && item.Type == "" {
		switch id, _ := jsonscan.String(open(what, raw, scan).value("id")); {
		case item.Role != "":
			item.Type = ItemMessage
		case id != "":
			item.Type = ItemReference
		default:
			return Item{}, invalid(what, "has no type, and no role or id to tell it by")
		}
	}
	return item, err
}

func untypedView(what string, raw []byte, scan *jsonscan.Scanner) (Item, error) {
	if jsonscan.Kind(raw) != '{' {
		return Item{}, invalid(what, "is %s and not an object", kinds[jsonscan.Kind(raw)])
	}
	o := open(what, raw, scan)
	item := Item{Raw: raw, Type: o.text("type")}
	if o.err != nil {
		return Item{}, o.err
	}
	// What is of the wrong kind here may be right in an item of a type that is not known.
	item.Role, _ = jsonscan.String(o.value("role"))
	item.CallID, _ = jsonscan.String(o.value("call_id"))
	item.Name, _ = jsonscan.String(o.value("name"))
	return item, nil
}

// built makes an item of an object that a builder wrote. The view is read off the JSON, in which broken UTF-8 has been
// replaced, so that it says what every reader will see.
func built(typ string, raw jsontext.Value) Item {
	item, err := itemView("item", raw, new(jsonscan.Scanner))
	if err != nil { // a raw value that was put in is not JSON
		return Item{Raw: raw, Type: typ}
	}
	return item
}

// Clone returns a copy that shares nothing with the item.
func (i Item) Clone() Item {
	i.Raw = i.Raw.Clone()
	return i
}

// MarshalJSON returns the item as written.
func (i Item) MarshalJSON() ([]byte, error) { return appendRaw(nil, i.Raw), nil }

// UnmarshalJSON is [ParseItem] with a copy of data.
func (i *Item) UnmarshalJSON(data []byte) error {
	item, err := ParseItem(slices.Clone(data))
	if err == nil {
		*i = item
	}
	return err
}

func appendItem(dst []byte, i Item) []byte { return appendRaw(dst, i.Raw) }
