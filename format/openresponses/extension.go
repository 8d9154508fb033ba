package openresponses

import (
	"strings"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Extension builds an item of a type that this package does not define, which is named by a slug, a colon and a name, such
// as "acme:note". The members come after the type, in order.
func Extension(typ string, members Members) (Item, error) {
	if slug, name, ok := strings.Cut(typ, ":"); !ok || slug == "" || name == "" {
		return Item{}, invalid("item", "the type %q of an extension is not a slug, a colon and a name", typ)
	}
	var b builder
	b.fullText("type", typ)
	return ParseItem(b.end(members))
}

// Members returns all members of an item of any type, in order; nil when it is not one JSON object.
func (i Item) Members() Members {
	var scan jsonscan.Scanner
	o := open("item", i.Raw, &scan)
	if o.err != nil {
		return nil
	}
	return o.unknown()
}
