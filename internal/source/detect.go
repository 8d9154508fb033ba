package source

import (
	"fmt"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// Detector finds the format of a file by its first lines. The zero value is ready for use.
type Detector struct {
	// Damage are the lines that were passed over: they are no JSON, as what a crash leaves behind.
	Damage []*format.DamageError
}

// maxEarly is how many damaged lines a file may begin with.
const maxEarly = 16

// Detect looks at the next line that is not blank. There is no format yet, and no error, where the line is damaged and the next may
// tell. The error is an [*UnknownFormatError], or says that the line is too long.
func (d *Detector) Detect(l lines.Line) (*Format, error) {
	if l.TooLong() {
		return nil, &format.DamageError{
			Line: l.Number, Offset: l.Offset, Err: format.ErrLineTooLong, Detail: fmt.Sprintf("%d bytes", l.Size),
		}
	}
	for _, f := range Formats() {
		if f.Detect(l.Data) {
			if !f.LateHeader && len(d.Damage) > 0 {
				break
			}
			return &f, nil
		}
	}
	var s jsonscan.Scanner
	if err := s.Scan(l.Data, ""); err != nil && !jsonscan.Valid(l.Data, true) && len(d.Damage) < maxEarly {
		damage := damagedLine(l.Data, err)
		damage.Line, damage.Offset = l.Number, l.Offset
		d.Damage = append(d.Damage, briefly(damage))
		return nil, nil
	}
	return nil, d.Unknown(l.Number)
}

// Unknown says that no line told the format; the first one that was looked at is to blame.
func (d *Detector) Unknown(line int) error {
	if len(d.Damage) > 0 {
		line = d.Damage[0].Line
	}
	return &UnknownFormatError{Line: line}
}

// damagedLine says of a line that it is no JSON object.
func damagedLine(data []byte, err error) *format.DamageError {
	d := &format.DamageError{Err: format.ErrSyntax, Detail: err.Error(), Data: data}
	if s, ok := err.(*jsonscan.SyntaxError); ok {
		d.At, d.Detail = s.Offset, s.What
	}
	return d
}
