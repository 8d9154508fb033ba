package archive_test

import (
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// What later minors added is content as well: texts that wait or are pinned, parts of the instructions and why others were
// left out, and members of a trigger that the format does not define.
func TestContentOfLaterMinorsStaysInTheFile(t *testing.T) {
	const secret = "sk-planted-1234567890"
	message := `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + secret + `"}]}`
	trigger := `{"kind":"human","ref":"m1","source":"gateway","from":"` + secret + `","more":{"text":"` + secret + `"}}`
	parts := `"instructions_parts":[{"id":"` + secret + `","text":"` + secret + `","source":"` + secret + `"}],` +
		`"instructions_omitted":[{"id":"` + secret + `","reason":"` + secret + `","size":1}],` +
		`"omit":{"reasoning":"` + secret + `","items":["` + secret + `"]}`
	path := made(t,
		entry("a", "null", `"type":"config","model":"m",`+parts),
		entry("b", "a", `"type":"run","phase":"start","run_id":"r","source":"input","trigger":`+trigger),
		entry("c", "b", `"type":"queued","mode":"steer","item":`+message+`,"trigger":`+trigger),
		entry("d", "c", `"type":"item","queued_from":"c","source":`+trigger+`,"item":`+message),
		entry("e", "d", `"type":"item","source":`+trigger+`,"item":`+message),
		entry("f", "e", `"type":"compaction","first_kept":"d","summary":`+message+`,"pinned":[`+message+`],"config":{"model":"m",`+parts+`}`),
		entry("g", "f", `"type":"response","response_id":"x"`),
		entry("h", "g", `"type":"withdraw","target":"c","reason":"`+secret+`"`),
	)
	rec, reports := replay(t, archive.Options{Finish: true}, path)
	if rep := reports[0]; rep.Entries != 8 || rep.Damaged != 0 || len(rec.Ended) < 5 {
		t.Fatalf("the test does not replay what it means to: %+v", rep)
	}
	text := spantest.Dump(rec.Ended)
	if !strings.Contains(text, "gateway") || !strings.Contains(text, "wait_ms") {
		t.Errorf("what is no content does not leave:\n%s", text)
	}
	if strings.Contains(text, secret) {
		t.Errorf("it left:\n%s", text)
	}
}
