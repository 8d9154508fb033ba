package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protojson"
)

// WriteJSON writes b to w as one TracesData object in OTLP/JSON and a line feed, in a single call of Write. An empty
// batch writes nothing. The error is that of w, or that attributes are nested deeper than the 10,000 levels that
// protobuf and jsontext take; nothing is written then.
func WriteJSON(w io.Writer, b *Batch) error {
	if b.Len() == 0 {
		return nil
	}
	data, err := b.Messages()
	if err != nil {
		return err
	}
	text, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(data)
	if err != nil {
		return err
	}
	var line bytes.Buffer
	if err := rewrite(&line, text); err != nil {
		return err
	}
	_, err = w.Write(line.Bytes())
	return err
}

// rewrite makes OTLP/JSON of protobuf's own JSON: ids go from base64 to hexadecimal, and the white space goes that
// protojson puts in at random to keep everybody from relying on its bytes.
func rewrite(dst *bytes.Buffer, text []byte) error {
	in, out := jsontext.NewDecoder(bytes.NewBuffer(text)), jsontext.NewEncoder(dst)
	for isID := false; ; {
		token, err := in.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && isID {
			token, err = hexadecimal(token.String())
		}
		if err == nil {
			err = out.WriteToken(token)
		}
		if err != nil {
			return err
		}
		isID = false
		if in, n := in.StackIndex(in.StackDepth()); in == jsontext.KindBeginObject && n%2 == 1 { // a name
			switch token.String() {
			case "traceId", "spanId", "parentSpanId":
				isID = true
			}
		}
	}
}

func hexadecimal(base64ID string) (jsontext.Token, error) {
	id, err := base64.StdEncoding.DecodeString(base64ID)
	return jsontext.String(hex.EncodeToString(id)), err
}
