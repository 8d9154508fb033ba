package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/e2e/jaeger"
)

// A process that records a session live is killed while a call is open. Another one goes on with the session, and what both have
// sent is one trace, with nothing missing in it and nothing twice. A replay of the files changes nothing of it.
func TestKilledHarnessGoesOnInItsTrace(t *testing.T) {
	server := jaeger.Start(t, jaeger.Memory())
	path := buildHarness(t)
	for _, tc := range []struct {
		name  string
		hang  string // what the site does not answer, if that is what keeps the call open
		until string // what the first process prints when it comes to that call
		sent  int    // spans that have ended by then, those of HTTP requests among them
		want  string
	}{
		{"in a tool", "/changes", `calling fetch {"path":"/changes"}`, 3, `
agentsession.session
  agentsession.approval proceed
  invoke_agent example-harness input aborted
    HTTP POST
    chat scripted-1
    execute_tool fetch in_flight 1
  invoke_agent example-harness resume done
    HTTP POST
    HTTP POST
    chat scripted-1
    chat scripted-1
    execute_tool delegate completed 1
      agentsession.session
        invoke_agent example-harness input done
          HTTP POST
          HTTP POST
          chat scripted-1
          chat scripted-1
          execute_tool fetch completed 1
            HTTP GET
    execute_tool fetch completed 2
      HTTP GET
    execute_tool write_file completed 1`},
		{"in a tool of the sub-agent", "/issues", `calling fetch {"path":"/issues"}`, 8, `
agentsession.session
  agentsession.approval proceed
  invoke_agent example-harness input aborted
    HTTP POST
    chat scripted-1
    execute_tool delegate in_flight 1
      agentsession.session
        invoke_agent example-harness input aborted
          HTTP POST
          chat scripted-1
          execute_tool fetch in_flight 1
        invoke_agent example-harness resume done
          HTTP POST
          chat scripted-1
          execute_tool fetch completed 2
            HTTP GET
    execute_tool fetch completed 1
      HTTP GET
  invoke_agent example-harness resume done
    HTTP POST
    HTTP POST
    chat scripted-1
    chat scripted-1
    execute_tool delegate completed 2
    execute_tool write_file completed 1`},
		{"while a person is asked", "", `write_file {`, 16, `
agentsession.session
  agentsession.approval proceed
  invoke_agent example-harness input input_required
    HTTP POST
    HTTP POST
    chat scripted-1
    chat scripted-1
    execute_tool delegate completed 1
      agentsession.session
        invoke_agent example-harness input done
          HTTP POST
          HTTP POST
          chat scripted-1
          chat scripted-1
          execute_tool fetch completed 1
            HTTP GET
    execute_tool fetch completed 1
      HTTP GET
  invoke_agent example-harness resume done
    HTTP POST
    chat scripted-1
    execute_tool write_file completed 1`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			flags := []string{"-dir", dir, "-endpoint", "http://" + server.OTLPGRPC()}
			first := startProcess(t, path, append(flags, "-hang", tc.hang)...)
			id, trace := first.session()
			first.until(tc.until)
			waitForSpans(t, server, trace, tc.sent)
			first.kill()

			second := startProcess(t, path, append(flags, "-session", id, "-yes")...)
			second.wait()
			live := traceOf(t, server, trace)
			checkOutline(t, live, tc.want)
			replayChangesNothing(t, server, trace, live, filepath.Join(dir, "sessions"))
		})
	}
}

// What a process did not get to send comes with a replay of the files, but for what only it knew: its HTTP requests.
func TestReplayBringsWhatAKilledHarnessDidNotSend(t *testing.T) {
	server := jaeger.Start(t, jaeger.Badger(t.TempDir()))
	path, dir := buildHarness(t), t.TempDir()
	first := startProcess(t, path, "-dir", dir, "-hang", "/changes") // which sends nothing at all
	id, trace := first.session()
	first.until(`calling fetch`)
	first.kill()

	second := startProcess(t, path, "-dir", dir, "-endpoint", "http://"+server.OTLPGRPC(), "-session", id, "-yes")
	second.wait()
	if live := outline(traceOf(t, server, trace)); strings.Contains(live, "\nagentsession.session") {
		t.Fatalf("the mark of the session is there, which only the first process had:%s", live)
	}
	replaySessions(t, server, filepath.Join(dir, "sessions"))
	checkOutline(t, traceOf(t, server, trace), `
agentsession.session
  agentsession.approval proceed
  invoke_agent example-harness input aborted
    chat scripted-1
    execute_tool fetch in_flight 1
  invoke_agent example-harness resume done
    HTTP POST
    HTTP POST
    chat scripted-1
    chat scripted-1
    execute_tool delegate completed 1
      agentsession.session
        invoke_agent example-harness input done
          HTTP POST
          HTTP POST
          chat scripted-1
          chat scripted-1
          execute_tool fetch completed 1
            HTTP GET
    execute_tool fetch completed 2
      HTTP GET
    execute_tool write_file completed 1`)
}

func checkOutline(t *testing.T, spans spansOf, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(outline(spans), "\n")); diff != "" {
		t.Errorf("the trace (-want +got):\n%s", diff)
	}
}
