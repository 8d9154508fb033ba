package projection

import (
	"crypto/sha256"
	"hash"
	"strconv"

	"go.opentelemetry.io/otel/trace"
)

// Recipe names the version of everything that ids depend on: the fields hashed, the keys of spans, and the rules that
// decide which spans there are. It changes when any of them does, so that an old trace is never half updated.
const Recipe = "sessionspan/1"

// ids makes trace and span ids. It is not safe for concurrent use.
type ids struct {
	salt string
	hash hash.Hash
	buf  []byte
	sum  [sha256.Size]byte
	// of is the session whose spans the first so many bytes of buf are for.
	of     string
	prefix int
}

func newIDs(salt string) *ids { return &ids{salt: salt, hash: sha256.New()} }

// TraceID returns the id of a session's trace: the first 16 bytes of SHA-256 over the recipe's tag, "trace", the salt and
// the id of the root session, each written as a netstring. With runID it is the trace of that run alone.
func TraceID(salt, rootSession string, runID ...string) trace.TraceID {
	return newIDs(salt).trace(rootSession, runID...)
}

// SpanID returns the id of a span: the first 8 bytes of SHA-256 over the recipe's tag, "span", the salt, the id of the
// session that owns the span, its type, and the fields of its stable key, each written as a netstring.
func SpanID(salt, session string, typ Type, key ...string) trace.SpanID {
	return newIDs(salt).span(session, typ, key...)
}

func (g *ids) trace(root string, runID ...string) (id trace.TraceID) {
	g.begin("trace", root)
	g.field(runID...)
	copy(id[:], g.end())
	if !id.IsValid() {
		id[len(id)-1] = 1
	}
	return id
}

func (g *ids) span(session string, typ Type, key ...string) (id trace.SpanID) {
	if g.prefix > 0 && g.of == session {
		g.buf = g.buf[:g.prefix]
	} else {
		g.begin("span", session)
		g.of, g.prefix = session, len(g.buf)
	}
	g.field(string(typ))
	g.field(key...)
	copy(id[:], g.end())
	if !id.IsValid() {
		id[len(id)-1] = 1
	}
	return id
}

func (g *ids) begin(kind, session string) {
	g.buf, g.prefix = g.buf[:0], 0
	g.field(Recipe, kind, g.salt, session)
}

// field writes netstrings: lengths make sure that no two lists of fields are the same bytes.
func (g *ids) field(values ...string) {
	for _, v := range values {
		g.buf = strconv.AppendInt(g.buf, int64(len(v)), 10)
		g.buf = append(g.buf, ':')
		g.buf = append(g.buf, v...)
		g.buf = append(g.buf, ',')
	}
}

func (g *ids) end() []byte {
	g.hash.Reset()
	g.hash.Write(g.buf)
	return g.hash.Sum(g.sum[:0])
}
