package waterfall

import (
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// How long an input waited, and where, what was never taken up, and what was merged and judged are said on the rows.
func TestQueuedMergedAndJudged(t *testing.T) {
	st := newStory()
	root := st.root()
	first := st.run(root, 0, 10*s, names.RunQueued.Int(2))
	asked := st.chat(first, "gpt-5", 0, 9*s, 100, 10)
	second := st.run(root, 20*s, 30*s, names.RunWait.Int64(12_000))
	input := st.add(projection.TypeEvent, "agentsession.input", second, 20*s, 20*s+1000, names.InputWait.Int64(12_000))
	link(input, asked, names.LinkQueued)
	merging := st.chat(second, "gpt-5", 20*s, 29*s, 100, 10)
	link(merging, asked, names.LinkConverged)
	judge := st.add(projection.TypeEvent, "agentsession.link", root, 31*s, 31*s+1000)
	link(judge, root, names.LinkJudgedBy)

	var b strings.Builder
	if err := st.Draw(&b, Options{Look: terminal.Look{Width: 120}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"invoke_agent pi  2 queued", "invoke_agent pi  waited 12.0s", "input  waited 12.0s · ↩ queued at", "chat gpt-5  ↩ merges #",
		"link  ↩ judged by #",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}
