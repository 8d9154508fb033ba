package archive_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"github.com/sessionspan/sessionspan/internal/waterfall"
)

// Nothing that a person, a model or a tool said leaves the file (promise P10).
func TestContentStaysInTheFile(t *testing.T) {
	const secret = "sk-planted-1234567890"
	message := func(role string) string {
		return `{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":"` + secret + `"}]}`
	}
	path := made(t,
		entry("a", "null", `"type":"config","model":"m","instructions":"`+secret+`","extra":{"api_key":"`+secret+`"},`+
			`"tools_added":[{"type":"function","name":"bash","description":"`+secret+`"}]`),
		entry("b", "a", `"type":"run","phase":"start","run_id":"r","source":"input"`),
		entry("c", "b", `"type":"item","item":`+message("user")),
		entry("d", "c", `"type":"item","response":"x","item":{"type":"reasoning","summary":[{"type":"summary_text","text":"`+secret+`"}]}`),
		entry("e", "d", `"type":"item","response":"x","item":`+message("assistant")),
		entry("f", "e", `"type":"item","response":"x","item":{"type":"function_call","call_id":"c1","name":"bash","arguments":"`+secret+`"}`),
		entry("g", "f", `"type":"response","response_id":"x","secret":"`+secret+`"`),
		entry("h", "g", `"type":"decision","call_id":"c1","target":"f","verdict":"proceed","reason":"`+secret+`","args":{"cmd":"`+secret+`"}`),
		entry("i", "h", `"type":"dispatch","call_id":"c1","target":"f","note":"`+secret+`"`),
		entry("j", "i", `"type":"item","item":{"type":"function_call_output","call_id":"c1","output":"`+secret+`"}`),
		entry("k", "j", `"type":"outcome","kind":"test","details":{"log":"`+secret+`"}`),
		entry("l", "k", `"type":"compaction","first_kept":"c","summary":`+message("system")+`,"config":{"instructions":"`+secret+`"}`),
		entry("m", "l", `"type":"branch_summary","from":"c","summary":`+message("user")),
		entry("n", "m", `"type":"custom","ns":"x","data":{"text":"`+secret+`","usage":{"input_tokens":1}}`),
		entry("o", "n", `"type":"acme:note","text":"`+secret+`"`),
		entry("p", "o", `"type":"label","target":"c","label":"`+secret+`"`),
		entry("q", "p", `"type":"env","files":{"read":{"`+secret+`":"sha256:00"}}`),
		entry("r", "q", `"type":"run","phase":"end","run_id":"r","reason":"done","pending":[]`),
		`{"id":"s","parent":"r","ts":"`+secret+`","type":"item","item":`+message("user")+`}`,
		`{"broken":"`+secret+`"`,
	)
	var out bytes.Buffer
	rec, picture := &spantest.Recorder{}, &waterfall.Collector{}
	ix := archive.NewIndex(t.Context(), []string{path}, nil, archive.Options{}.Source)
	rep := ix.Project(t.Context(), ix.Files[0], archive.Options{
		Finish:  true,
		Problem: func(_ string, err error, _ bool) { out.WriteString(err.Error() + "\n") },
	}, rec)
	if rep.Entries != 19 || rep.Damaged != 2 || len(rec.Ended) < 7 {
		t.Fatalf("the test does not replay what it means to: %+v", rep)
	}
	batch := otlp.NewBatch(otlp.Config{})
	for _, s := range rec.Ended {
		batch.Add(s)
		picture.Start(s)
		picture.End(s)
	}
	if err := otlp.WriteJSON(&out, batch); err != nil {
		t.Fatal(err)
	}
	if err := picture.Draw(t.Context(), &out, waterfall.Options{}); err != nil {
		t.Fatal(err)
	}
	out.WriteString(spantest.Dump(rec.Ended))
	for line := range strings.Lines(out.String()) {
		if i := strings.Index(line, secret); i >= 0 {
			t.Errorf("it left: …%s", line[max(0, i-200):min(len(line), i+40)])
		}
	}
}
