package main

import (
	"bufio"
	"io"
	"os"

	"github.com/charmbracelet/colorprofile"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/waterfall"
	"go.opentelemetry.io/otel/attribute"
)

// destination is where traces go.
type destination interface {
	// trace returns the sink for the next trace, or for more of the one at hand.
	trace() projection.Sink
	// flush writes out the trace at hand.
	flush() error
	close() error
}

func (r *replay) destination(w io.Writer, resource *resource) destination {
	if r.to == "text" {
		o := waterfall.OptionsFor(w, os.Environ())
		if r.width > 0 {
			o.Width = r.width
		}
		return &drawing{w: bufio.NewWriter(colorprofile.NewWriter(w, os.Environ())), opts: o}
	}
	return &otlpJSON{
		w: bufio.NewWriterSize(w, 64<<10),
		batch: otlp.NewBatch(otlp.Config{
			Resource:     resource.of,
			ScopeVersion: version(),
			SchemaURL:    projection.SchemaURL(projection.Semconv(r.semconv)),
		}),
	}
}

// drawing draws each trace in the terminal.
type drawing struct {
	w    *bufio.Writer
	opts waterfall.Options
	at   *waterfall.Collector
	some bool
}

func (d *drawing) trace() projection.Sink {
	if d.at == nil {
		d.at = &waterfall.Collector{}
	}
	return d.at
}

func (d *drawing) flush() error {
	c := d.at
	d.at = nil
	if c == nil {
		return nil
	}
	if n, _ := c.Len(); n == 0 {
		return nil
	}
	if d.some {
		if err := d.w.WriteByte('\n'); err != nil {
			return err
		}
	}
	d.some = true
	if err := c.Draw(d.w, d.opts); err != nil {
		return err
	}
	return d.w.Flush()
}

func (d *drawing) close() error { return d.w.Flush() }

// otlpJSON writes OTLP/JSON, one traces object a line.
type otlpJSON struct {
	w     *bufio.Writer
	batch *otlp.Batch
	err   error
}

// maxBatch bounds the size of a line in bytes of the encoded spans.
const maxBatch = 256 << 10

func (o *otlpJSON) trace() projection.Sink { return o }

func (o *otlpJSON) Start(*projection.Span) {}

func (o *otlpJSON) End(s *projection.Span) {
	if o.err != nil {
		return
	}
	o.batch.Add(s)
	if o.batch.Size() >= maxBatch {
		o.err = o.flush()
	}
}

func (o *otlpJSON) flush() error {
	if o.err != nil {
		return o.err
	}
	if o.batch.Len() == 0 {
		return nil
	}
	defer o.batch.Reset()
	return otlp.WriteJSON(o.w, o.batch)
}

func (o *otlpJSON) close() error {
	if err := o.flush(); err != nil {
		return err
	}
	return o.w.Flush()
}

// resource makes the resource of a session.
type resource struct {
	service string
	extra   []attribute.KeyValue
}

func (r *resource) of(s *projection.Session) []attribute.KeyValue {
	named := *s
	if r.service != "" {
		named.Harness = r.service
	}
	if named.Harness == "" {
		named.Harness = s.Format
	}
	return otlp.Resource(&named, r.extra...)
}
