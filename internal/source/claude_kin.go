package source

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// claudeKin knows the files of Claude Code that say something of others.
type claudeKin struct {
	mu       sync.Mutex
	spawners map[string]*claudeSpawner // by path
	families claudeFamilies
}

// claudeSpawner is a file with the agents that it has spawned so far.
type claudeSpawner struct {
	mu      sync.Mutex
	decoder *claudeSession // nil where nothing was read, or it was let go of
	offset  int64
	lines   int
	size    int64 // of the file when it was read
	calls   []claudeSpawn
}

// claudeRootOf is the session in whose folder the file of an agent lies; "" where it lies in none.
func claudeRootOf(path string) string {
	if dir := claudeUnit(path); dir != "" {
		return filepath.Base(dir)
	}
	return ""
}

// claudeUnit is the folder of the session that the file of an agent lies in, at whatever depth; "" for none.
func claudeUnit(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "subagents" {
			return filepath.Dir(dir)
		}
		if up := filepath.Dir(dir); up == dir {
			return ""
		}
	}
}

// claudeFile finds the file of a name, which may be compressed; "" when there is none.
func claudeFile(dir, stem string) string {
	if !plainName(stem) {
		return ""
	}
	for _, ending := range []string{".jsonl", ".jsonl.gz", ".jsonl.zst"} {
		path := filepath.Join(dir, stem+ending)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// plainName reports whether what a file says is the name of another one, and not a way out of its folder.
func plainName(stem string) bool {
	return stem != "" && stem != "." && stem != ".." && !strings.ContainsAny(stem, `/\`+"\x00")
}

// spawnOf finds the call that spawned an agent, by the best evidence there is (native formats 1.7); nil when there is none.
func (k *claudeKin) spawnOf(path, root, agent string, card claudeCard, task uint64) *claudeSpawn {
	if card.alone() {
		return nil
	}
	unit, dir := claudeUnit(path), filepath.Dir(path)
	main := claudeFile(dir, root)
	if unit != "" {
		main = claudeFile(filepath.Dir(unit), root)
	}
	first := []string{main}
	if card.parent != "" {
		first = append([]string{k.agentFile(path, root, card.parent)}, first...)
	}
	is := func(s *claudeSpawn) bool { return s.agent == agent }
	if card.call != "" {
		is = func(s *claudeSpawn) bool { return s.call == card.call }
	}
	if s := k.search(first, is); s != nil {
		return s
	}
	others := claudeAgents(unit, dir, path)
	if s := k.search(others, is); s != nil || card.call != "" {
		return s
	}
	return k.search(first, func(s *claudeSpawn) bool { return s.agent == "" && s.prompt == task && task != 0 })
}

// claudeAgents are the files of the agents beside one.
func claudeAgents(unit, dir, but string) []string {
	var list []string
	add := func(path string, d fs.DirEntry) {
		if d.Type().IsRegular() && strings.HasPrefix(d.Name(), "agent-") && strings.Contains(d.Name(), ".jsonl") && path != but {
			list = append(list, path)
		}
	}
	if unit == "" {
		entries, _ := os.ReadDir(dir) // what cannot be looked into says nothing
		for _, d := range entries {
			add(filepath.Join(dir, d.Name()), d)
		}
		return list
	}
	_ = filepath.WalkDir(filepath.Join(unit, "subagents"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			add(path, d)
		}
		return nil
	})
	return list
}

// agentFile is the file of an agent of a session; "" when there is none.
func (k *claudeKin) agentFile(path, root, agent string) string {
	stem := "agent-" + agent
	if !plainName(agent) || !plainName(root) {
		return ""
	}
	unit := claudeUnit(path)
	if unit == "" {
		unit = filepath.Join(filepath.Dir(path), root)
		if file := claudeFile(filepath.Dir(path), stem); file != "" {
			return file
		}
	}
	if file := claudeFile(filepath.Join(unit, "subagents"), stem); file != "" {
		return file
	}
	found := ""
	_ = filepath.WalkDir(filepath.Join(unit, "subagents"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && claudeStem(path) == stem && strings.Contains(d.Name(), ".jsonl") {
			found = path
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// agentMissing reports whether a file of an agent should be beside this one and is not.
func (d *claudeSession) agentMissing(agent string) bool {
	if d.bare || d.at.Path == "" || d.at.Kin == nil {
		return false
	}
	return d.at.Kin.claude.agentFile(d.at.Path, d.rootID(), agent) == ""
}

// search finds the first call, in the order of the files and of the calls in each, of which something is true.
func (k *claudeKin) search(files []string, is func(*claudeSpawn) bool) *claudeSpawn {
	for _, path := range files {
		if path == "" {
			continue
		}
		var found *claudeSpawn
		for _, s := range k.spawnsIn(path) {
			if is(&s) && (found == nil || s.time.Before(found.time) || s.time.Equal(found.time) && s.call < found.call) {
				found = &s
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// keptSpawners is of how many files it is known how to read on.
const keptSpawners = 8

// spawnsIn returns the calls of a file that spawn agents. A file that has grown is read on.
func (k *claudeKin) spawnsIn(path string) []claudeSpawn {
	k.mu.Lock()
	if k.spawners == nil {
		k.spawners = map[string]*claudeSpawner{}
	}
	f := k.spawners[path]
	if f == nil {
		f = &claudeSpawner{}
		k.spawners[path] = f
	}
	k.mu.Unlock()

	f.mu.Lock()
	defer f.mu.Unlock()
	if info, err := os.Stat(path); err == nil && info.Size() != f.size {
		f.read(path, info.Size())
		k.letGo(f)
	}
	return f.calls
}

// letGo has only some files keep what it takes to read them on.
func (k *claudeKin) letGo(but *claudeSpawner) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept := 0
	for _, f := range k.spawners {
		if f == but || !f.mu.TryLock() {
			continue
		}
		if f.decoder != nil {
			kept++
		}
		if kept >= keptSpawners {
			f.decoder = nil
		}
		f.mu.Unlock()
	}
}

// read reads on, from the start if it must. What cannot be read says nothing.
func (f *claudeSpawner) read(path string, size int64) {
	in, err := openRegular(path)
	if err != nil {
		return
	}
	defer in.Close()
	if f.decoder == nil || size < f.size || claudeStem(path)+".jsonl" != filepath.Base(path) {
		f.decoder, f.offset, f.lines = newClaudeSession(Place{Path: path}), 0, 0
		f.decoder.bare, f.decoder.spawns = true, map[string]*claudeSpawn{}
	}
	f.size = size
	eachLine(in, f.offset, f.lines, func(l lines.Line) bool {
		if !l.Terminated {
			return false
		}
		f.offset, f.lines = l.Offset+l.Size, l.Number
		if !l.Blank() {
			_ = f.decoder.Decode(l, func(*activity.Event) {}) // who reads the file tells what is wrong with it
		}
		return true
	})
	f.calls = make([]claudeSpawn, 0, len(f.decoder.spawns))
	for _, s := range f.decoder.spawns {
		f.calls = append(f.calls, *s)
	}
}

// eachLine reads the lines of a file from somewhere on, until it is enough. One that is compressed is read from its start.
func eachLine(in *os.File, offset int64, before int, do func(lines.Line) bool) {
	var plain io.Reader = in
	if offset > 0 {
		if _, err := in.Seek(offset, io.SeekStart); err != nil {
			return
		}
	} else {
		d, err := Decompress(in)
		if err != nil {
			return
		}
		defer d.Close()
		plain = d
	}
	rd := lines.Resume(plain, 0, before, offset)
	defer rd.Close()
	for {
		l, err := rd.Next()
		if err != nil || !do(l) {
			return
		}
	}
}

// Beside reports whether a file lies beside session files and is none, though its name is that of one or it says something of one.
func Beside(path string) bool {
	name := filepath.Base(path)
	switch {
	case strings.HasPrefix(name, "agent-") && strings.HasSuffix(name, ".meta.json"):
		return true
	default:
		return name == "journal.jsonl" && claudeUnit(path) != ""
	}
}

// Agents finds the files of the agents that worked for sessions. The zero value is ready for use.
type Agents struct {
	beside map[string]map[string][]string // the files of agents, by their folder and the session that they name
}

// Of lists those of a session that has a file of its own; none for anything else.
func (a *Agents) Of(path string) []string {
	dir, stem := filepath.Dir(path), claudeStem(path)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || strings.HasPrefix(stem, "agent-") {
		return nil
	}
	var list []string
	if info, err := os.Stat(filepath.Join(dir, stem, "subagents")); err == nil && info.IsDir() {
		list = claudeAgents(filepath.Join(dir, stem), dir, path)
	}
	by := a.beside[dir]
	if by == nil {
		by = map[string][]string{}
		for _, file := range claudeAgents("", dir, path) {
			id := claudeSessionOf(file)
			by[id] = append(by[id], file)
		}
		if a.beside == nil {
			a.beside = map[string]map[string][]string{}
		}
		a.beside[dir] = by
	}
	if len(by) > 0 {
		if id := claudeSessionOf(path); id != "" {
			list = append(list, by[id]...)
		}
	}
	return list
}

// AgentsPattern is a pattern for the files that agents of a session will have, though there are none yet, by the name of the session's own
// file; "" where that is none of Claude Code.
func AgentsPattern(path string) string {
	stem := claudeStem(path)
	if !isUUID(stem) {
		return ""
	}
	return filepath.Join(globbed(filepath.Join(filepath.Dir(path), stem)), "subagents", "**", "agent-*.jsonl")
}

// globbed is a folder as a pattern that means it.
func globbed(dir string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(dir)
}

// MainOf is the file of the session for which the agent of a file worked, else the file itself.
func MainOf(path string) string {
	if !strings.HasPrefix(filepath.Base(path), "agent-") {
		return path
	}
	dir, root := filepath.Dir(path), claudeSessionOf(path)
	if unit := claudeUnit(path); unit != "" {
		dir, root = filepath.Dir(unit), filepath.Base(unit)
	}
	if file := claudeFile(dir, root); file != "" && root != "" {
		return file
	}
	return path
}

// claudeSessionOf is the session that the first lines of a file name; "" when none does.
func claudeSessionOf(path string) (id string) {
	in, err := openRegular(path)
	if err != nil {
		return ""
	}
	defer in.Close()
	var r claudeReader
	eachLine(in, 0, 0, func(l lines.Line) bool {
		if e, err := r.read(l.Data); err == nil {
			id = e.session
		}
		return id == "" && l.Number < headLines
	})
	return id
}
