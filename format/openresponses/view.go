package openresponses

import (
	"fmt"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// openType opens an item or a tool of one type for its view.
func openType(what, want, typ string, raw []byte, scan *jsonscan.Scanner) (*object, error) {
	if typ != want {
		return nil, fmt.Errorf("the %s is of type %q and not %q: %w", what, typ, want, ErrItemType)
	}
	o := open(want+" "+what, raw, scan)
	o.take("type")
	return o, o.err
}

// done returns a view, or the error that was met when its fields were filled.
func done[V any](view *V, o *object) (*V, error) {
	if o.err != nil {
		return nil, o.err
	}
	return view, nil
}
