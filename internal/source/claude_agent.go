package source

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// claudeSpawn is what the file of a session says of an agent that it spawned.
type claudeSpawn struct {
	session    string // the id of the spawning session
	call       string
	run        string // in which the call was made
	agent      string // the id of the agent, "" where nothing says it
	kind       string // what agent
	prompt     uint64 // hash of its task, 0 when that is not known
	background bool
	time       time.Time // of the call
}

// claudeAgentID is the id of the session of an agent. Agents are known by theirs within a session.
func claudeAgentID(agent, session string) string { return "agent-" + agent + "@" + session }

// rootID is the id of the session at the top.
func (d *claudeSession) rootID() string {
	if _, root, found := strings.Cut(d.id, "@"); found && d.agent != "" {
		return root
	}
	return d.id
}

// spawned says of the file of an agent what it hangs from.
func (d *claudeSession) spawned(s *activity.Session, e *claudeLine, l lines.Line) error {
	name := claudeStem(d.at.Path)
	id, isAgent := strings.CutPrefix(name, "agent-")
	if !isAgent && (d.at.Path != "" || !e.sidechain || e.agent == "") {
		return nil
	}
	root := cmp.Or(e.session, claudeRootOf(d.at.Path), "unknown")
	d.agent = cmp.Or(e.agent, id)
	d.id = claudeAgentID(d.agent, root)
	s.Part = true
	s.Spawn = &activity.Spawn{Session: root, Root: root}
	card := readClaudeCard(d.at.Path)
	if card.kind != "" {
		d.chains[0].agent = card.kind
	}
	if d.bare || d.at.Kin == nil || d.at.Path == "" {
		s.Spawn.CallID = card.call
		if card.parent != "" {
			s.Spawn.Session = claudeAgentID(card.parent, root)
		}
		return nil
	}
	if d.at.Waits && !grownBeyond(d.at.Path, l.Offset+l.Size) {
		return ErrWaits // whether its call goes on meanwhile is written when it has begun to work
	}
	_, first := e.input(&d.block)
	spawn := d.at.Kin.claude.spawnOf(d.at.Path, root, d.agent, card, claudeTask(first))
	switch {
	case spawn != nil:
		*s.Spawn = activity.Spawn{Session: spawn.session, CallID: spawn.call, Root: root, Background: spawn.background, RunID: spawn.run}
		if d.chains[0].agent == "" {
			d.chains[0].agent = spawn.kind
		}
		if card.fork {
			d.copy.before, d.copy.owner = spawn.time, spawn.session
		}
	case d.at.Waits && !card.alone() && time.Since(e.time) < activity.Silence && !quietFile(d.at.Path):
		return ErrWaits
	case card.call != "":
		s.Spawn.CallID = card.call
		if card.parent != "" {
			s.Spawn.Session = claudeAgentID(card.parent, root)
		}
	}
	return nil
}

// grownBeyond reports whether a file has more than so many bytes.
func grownBeyond(path string, size int64) bool {
	info, err := os.Stat(path)
	return err != nil || info.Size() > size || claudeStem(path)+".jsonl" != filepath.Base(path)
}

// quietFile reports whether nothing was written to a file for so long that nothing more is expected.
func quietFile(path string) bool {
	info, err := os.Stat(path)
	return err != nil || time.Since(info.ModTime()) >= activity.Silence
}

// claudeCard is what lies beside the file of an agent.
type claudeCard struct {
	call, parent, kind string
	fork               bool
}

// alone reports whether the agent is one of a workflow, which no call spawned by itself.
func (c claudeCard) alone() bool { return c.call == "" && c.kind == "workflow-subagent" }

// maxCard is how long what lies beside the file of an agent may be.
const maxCard = 1 << 20

func readClaudeCard(path string) (c claudeCard) {
	if path == "" {
		return c
	}
	f, err := openRegular(filepath.Join(filepath.Dir(path), claudeStem(path)+".meta.json"))
	if err != nil {
		return c
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCard))
	if err != nil {
		return c
	}
	var s jsonscan.Scanner
	if s.Scan(data, "") != nil {
		return c
	}
	c.call, c.parent, c.kind = textOf(s.Members, "toolUseId"), textOf(s.Members, "parentAgentId"), textOf(s.Members, "agentType")
	c.fork = flagOf(s.Members, "isFork")
	return c
}

// claudeTask is the hash of the task of an agent; 0 when there is none.
func claudeTask(raw []byte) uint64 {
	text, ok := jsonscan.String(raw)
	if !ok || text == "" {
		return 0
	}
	return claudeSum(text)
}

// maySpawn notes what a call says that may spawn an agent.
func (d *claudeSession) maySpawn(id string, c *claudeCall, input []byte, n int32) {
	members := objectIn(&d.part, input)
	task := claudeTask(memberOf(members, "prompt"))
	c.kind = textOf(members, "subagent_type")
	if task != 0 && d.agent == "" {
		d.tasks[task] = append(d.tasks[task], c)
	}
	if d.spawns == nil {
		return
	}
	d.spawns[id] = d.spawnAt(id, n, c.time)
	s := d.spawns[id]
	s.prompt, s.kind, s.background = task, c.kind, flagOf(members, "run_in_background")
}

// spawnAt begins to know of a call that spawns an agent.
func (d *claudeSession) spawnAt(id string, n int32, at time.Time) *claudeSpawn {
	p := &d.place[n]
	s := &claudeSpawn{session: cmp.Or(d.chains[p.chain].within, d.id), call: id, time: at}
	if r := d.runs[p.run]; r != nil {
		s.run = r.id
	}
	return s
}

// evidence notes that a call has spawned an agent.
func (d *claudeSession) evidence(agent, call string, background bool) {
	if d.spawns == nil || agent == "" || call == "" {
		return
	}
	s := d.spawns[call]
	if s == nil { // of a tool that is not known to spawn any
		s = d.spawnAt(call, int32(len(d.place)-1), d.event.Time)
		d.spawns[call] = s
	}
	s.agent = cmp.Or(s.agent, agent)
	s.background = s.background || background
}

// progress takes what is said of work that goes on. It tells which agent works for a call.
func (d *claudeSession) progress(e *claudeLine) {
	if agent := textOf(objectIn(&d.part, e.raw("data")), "agentId"); agent != "" {
		d.evidence(agent, e.text("parentToolUseID"), false)
	}
}

// notified takes that an agent in the background has come to something.
func (d *claudeSession) notified(e *claudeLine, first []byte, p *claudePlace) {
	d.say(&activity.Input{Role: "user"})
	text, _ := jsonscan.String(first)
	agent, call := tagged(text, "task-id"), tagged(text, "tool-use-id")
	a := claudeAwait{key: d.originalOf(e), time: e.time, trigger: activity.Trigger{Kind: "task-notification", Ref: agent}}
	if s := d.spawns[call]; s != nil {
		d.evidence(agent, call, true)
	}
	if d.running(p) { // else it is said of the run that it starts
		d.say(&activity.Arrival{Trigger: a.trigger})
	}
	d.await(p, a)
}

// maxInner is how many agents a file may have, of which each costs some kilobytes. What comes after them is taken for the last one's.
const maxInner = 2000

// claudeLaunch is a call that returned before the agent that it spawned had ended.
type claudeLaunch struct {
	agent, call string
	time        time.Time
}

// launchTime is how long an agent in the background may take to begin its file.
const launchTime = 10 * time.Second

// lookForLaunched says of agents in the background that they have no file, where they should have had one for long.
func (d *claudeSession) lookForLaunched(now time.Time) {
	for len(d.launched) > 0 && now.Sub(d.launched[0].time) > launchTime {
		l := d.launched[0]
		d.launched = d.launched[1:]
		if d.agentMissing(l.agent) {
			d.say(&activity.Link{Rel: "subsession", Session: claudeAgentID(l.agent, d.rootID()), CallID: l.call, Missing: true})
		}
	}
}

// agentHere begins the session of an agent whose work is in the file of the one that spawned it. The call is the one with the same task.
func (d *claudeSession) agentHere(e *claudeLine, first []byte, l lines.Line) int32 {
	if len(d.chains) > maxInner {
		return int32(maxInner)
	}
	d.chains = append(d.chains, &claudeChain{within: "sidechain-" + e.uuid + "@" + d.id, awaits: make([]claudeAwait, 1)})
	n := int32(len(d.chains) - 1)
	c := d.chains[n]
	spawn := &activity.Spawn{Session: d.id, Root: d.id}
	task := claudeTask(first)
	if calls := d.tasks[task]; len(calls) > 0 {
		call := calls[0]
		d.tasks[task] = calls[1:]
		call.agent, c.agent = n, call.kind
		spawn.CallID, spawn.Session = call.id, cmp.Or(d.chains[call.chain].within, d.id)
	}
	if d.event.Owner != "" {
		return n // its work is another session's, and is not begun here
	}
	d.emit(&activity.Event{Within: c.within, Line: l.Number, Offset: l.Offset, Fact: &activity.Session{
		ID: c.within, Created: e.time, Format: Claude.Name, Harness: Claude.Name, Version: d.build, CWD: d.cwd, Loose: true, Part: true, Spawn: spawn,
	}})
	return n
}

// finishInner ends what an agent in the same file was doing: its call has its result.
func (d *claudeSession) finishInner(chain int32) {
	if chain == 0 {
		return
	}
	for c := d.chains[chain]; len(c.open) > 0; {
		d.settle(c.open[0])
	}
}
