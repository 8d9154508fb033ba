package main

import (
	"bufio"
	"context"
	"io"
	"os"

	"github.com/sessionspan/sessionspan/internal/scope"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/sessionspan/sessionspan/internal/waterfall"
	"go.opentelemetry.io/otel/attribute"
)

// destination is where traces go.
type destination interface {
	archive.Destination
	close() error
}

// destination returns where the command line says that traces go: out, or a backend. The context is done when more spans are of
// no use.
func (r *replay) destination(ctx context.Context, out io.Writer, bar *progress, resource []attribute.KeyValue, sum *summary) (context.Context, destination) {
	w := bar.beside(out)
	if r.to == "text" {
		o := waterfall.Options{Look: terminal.LookOf(out, os.Environ()), MaxRows: r.maxRows, More: "--max-rows 0 draws all"}
		if r.width > 0 {
			o.Width = r.width
		}
		return ctx, &drawing{w: terminal.NewWriter(w, out), opts: o}
	}
	batch := otlp.Config{
		Resource:     func(s *projection.Session) []attribute.KeyValue { return otlp.Resource(s, resource...) },
		ScopeVersion: scope.Version(),
		SchemaURL:    projection.SchemaURL(projection.Semconv(r.semconv)),
	}
	if r.to == toOTLP {
		s := newSending(ctx, &r.backend, batch, r.group == string(projection.GroupRun), bar, sum)
		return s.sender.Context(), s
	}
	return ctx, &otlpJSON{w: bufio.NewWriterSize(w, 64<<10), batch: otlp.NewBatch(batch)}
}

// defaultRows is how many rows a drawing has at most unless told otherwise, and after an interrupt.
const defaultRows = 1000

// drawing draws each trace in the terminal.
type drawing struct {
	w    *terminal.Writer
	opts waterfall.Options
	at   *waterfall.Collector
	some bool
}

func (d *drawing) Trace() projection.Sink {
	if d.at == nil {
		d.at = &waterfall.Collector{}
	}
	return d.at
}

func (d *drawing) Flush(ctx context.Context) error {
	c := d.at
	d.at = nil
	if c == nil {
		return nil
	}
	if n, _ := c.Len(); n == 0 {
		return nil
	}
	if d.some {
		if _, err := d.w.WriteString("\n"); err != nil {
			return err
		}
	}
	d.some = true
	o := d.opts
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
		if o.MaxRows == 0 || o.MaxRows > defaultRows {
			o.MaxRows = defaultRows
		}
	}
	if err := c.Draw(ctx, d.w, o); err != nil {
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

func (o *otlpJSON) Trace() projection.Sink { return o }

func (o *otlpJSON) Start(*projection.Span) {}

func (o *otlpJSON) End(s *projection.Span) {
	if o.err != nil {
		return
	}
	o.batch.Add(s)
	if o.batch.Size() >= maxBatch {
		o.err = o.write()
	}
}

func (o *otlpJSON) Flush(context.Context) error { return o.write() }

func (o *otlpJSON) write() error {
	if o.err != nil {
		return o.err
	}
	if o.batch.Len() == 0 {
		return nil
	}
	defer o.batch.Reset()
	return otlp.WriteJSON(escaped{o.w}, o.batch)
}

func (o *otlpJSON) close() error {
	if err := o.write(); err != nil {
		return err
	}
	return o.w.Flush()
}
