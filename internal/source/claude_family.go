package source

import (
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sessionspan/sessionspan/internal/lines"
)

// claudeFamilies knows which sessions of a folder begin with the same history, where their lines bear no mark of it: some
// versions go on with a session in a new file, with all that was before under the new session's id.
type claudeFamilies struct {
	mu      sync.Mutex
	folders map[string]*claudeFolder
	members map[string]*claudeMember // by path
}

// claudeFolder is what is known of the beginnings of the files in a folder.
type claudeFolder struct {
	modified time.Time
	looked   time.Time             // at it; what was put there in the same moment may not have been seen
	heads    map[string]claudeHead // by path
	by       map[uint64][]string   // the files with the same first entry
}

// claudeHead is how a file begins.
type claudeHead struct {
	size  int64  // of the file when it was looked at
	first uint64 // what the first entry is known by; 0 for none so far
	done  bool
}

// claudeMember is a file of several with the same beginning.
type claudeMember struct {
	size  int64
	id    string
	lines []claudeMemberLine
	at    map[uint64]time.Time
	last  time.Time // that a line has
}

type claudeMemberLine struct {
	known uint64
	time  time.Time
}

func claudeSum(key ...string) uint64 {
	h := fnv.New64a()
	for _, k := range key {
		io.WriteString(h, k)
		io.WriteString(h, "\x00")
	}
	return max(h.Sum64(), 1)
}

// copyDelay is how much older than its file an entry is that was copied. One of a session of its own is written at once.
const copyDelay = 2 * time.Second

// owners says of the lines at the beginning of a file which sessions they are copied from, by what they are known by; nil when
// the history is the file's own. The error is [ErrWaits].
func (f *claudeFamilies) owners(path, id string, waits bool) (map[uint64]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	folder := f.look(filepath.Dir(path))
	head := folder.head(path)
	if head.first == 0 || len(folder.by[head.first]) < 2 {
		return nil, nil
	}
	own := f.member(path)
	own.id = id
	var origins []*claudeMember
	for _, other := range folder.by[head.first] {
		if other == path {
			continue
		}
		m := f.member(other)
		if m == nil || m.id == id {
			continue
		}
		switch {
		case waits && !own.beyond(m) && recent(path):
			return nil, ErrWaits // which of them is the copy is seen when one goes on
		case waits && !m.beyond(own) && m.fresh(other):
		case own.copiedFrom(m):
			origins = append(origins, m)
		}
	}
	if len(origins) == 0 {
		return nil, nil
	}
	owners := map[uint64]string{}
	for _, l := range own.lines {
		var owner *claudeMember
		for _, m := range origins {
			if _, has := m.at[l.known]; has && (owner == nil || owner.copiedFrom(m)) {
				owner = m
			}
		}
		if owner == nil {
			break
		}
		owners[l.known] = owner.id
	}
	return owners, nil
}

// copiedFrom reports whether one of two files is a copy of the other, and not the other way round: its times are later, or it
// goes on where the other ends, or goes on later.
func (m *claudeMember) copiedFrom(o *claudeMember) bool {
	for _, l := range m.lines {
		if at, shared := o.at[l.known]; shared && !at.Equal(l.time) {
			return l.time.After(at)
		}
	}
	mine, theirs := m.firstBeyond(o), o.firstBeyond(m)
	switch {
	case mine == nil && theirs == nil:
		return m.id > o.id
	case mine == nil || theirs == nil:
		return theirs == nil
	case !mine.Equal(*theirs):
		return mine.After(*theirs)
	}
	return m.id > o.id
}

// fresh reports whether a file was written not long ago, and later than its lines say.
func (m *claudeMember) fresh(path string) bool {
	info, err := os.Stat(path)
	return err == nil && recent(path) && info.ModTime().Sub(m.last) > copyDelay
}

// beyond reports whether a file has something that another one has not.
func (m *claudeMember) beyond(o *claudeMember) bool { return m.firstBeyond(o) != nil }

func (m *claudeMember) firstBeyond(o *claudeMember) *time.Time {
	for _, l := range m.lines {
		if _, shared := o.at[l.known]; !shared {
			return &l.time
		}
	}
	return nil
}

// look brings what is known of a folder up to date.
func (f *claudeFamilies) look(dir string) *claudeFolder {
	folder := f.folders[dir]
	if folder == nil {
		folder = &claudeFolder{heads: map[string]claudeHead{}, by: map[uint64][]string{}}
		if f.folders == nil {
			f.folders, f.members = map[string]*claudeFolder{}, map[string]*claudeMember{}
		}
		f.folders[dir] = folder
	}
	info, err := os.Stat(dir)
	if err != nil || info.ModTime().Equal(folder.modified) && folder.modified.Add(copyDelay).Before(folder.looked) {
		return folder
	}
	folder.modified, folder.looked = info.ModTime(), time.Now()
	entries, _ := os.ReadDir(dir)
	for _, d := range entries {
		if d.Type().IsRegular() && !strings.HasPrefix(d.Name(), "agent-") && strings.Contains(d.Name(), ".jsonl") {
			folder.head(filepath.Join(dir, d.Name()))
		}
	}
	return folder
}

// headLines is how far into a file it is looked for its first entry.
const headLines = 1000

// head tells how a file begins.
func (f *claudeFolder) head(path string) claudeHead {
	h := f.heads[path]
	if h.done {
		return h
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() == h.size {
		return h
	}
	h.size = info.Size()
	if in, err := openRegular(path); err == nil {
		defer in.Close()
		var r claudeReader
		var c claudeCopy
		eachLine(in, 0, 0, func(l lines.Line) bool {
			h.done = l.Number >= headLines
			e, err := r.read(l.Data)
			if err != nil || !l.Terminated {
				return !h.done
			}
			if !e.chained {
				return !h.done
			}
			h.done = true
			if c.ownerOf(e, orSession(claudeStem(path), e), false) == "" { // else it says itself where it comes from
				h.first = c.known(e)
			}
			return false
		})
	}
	f.heads[path] = h
	if h.first != 0 {
		f.by[h.first] = append(f.by[h.first], path)
	}
	return h
}

// orSession is the id of the session of a file with a name: that, if it is one, else what a line says.
func orSession(stem string, e *claudeLine) string {
	if isUUID(stem) || e.session == "" {
		return stem
	}
	return e.session
}

// member reads a file of several with the same beginning.
func (f *claudeFamilies) member(path string) *claudeMember {
	m := f.members[path]
	info, err := os.Stat(path)
	if err != nil || m != nil && m.size == info.Size() {
		return m
	}
	m = &claudeMember{size: info.Size(), at: map[uint64]time.Time{}}
	f.members[path] = m
	in, err := openRegular(path)
	if err != nil {
		return m
	}
	defer in.Close()
	var r claudeReader
	var c claudeCopy
	eachLine(in, 0, 0, func(l lines.Line) bool {
		e, err := r.read(l.Data)
		if err == nil && e.time.After(m.last) {
			m.last = e.time
		}
		if err != nil || !e.chained || e.typ != "user" && e.typ != "assistant" {
			return true
		}
		if m.id == "" {
			m.id = orSession(claudeStem(path), e)
		}
		known := c.known(e)
		if _, have := m.at[known]; !have {
			m.at[known] = e.time
			m.lines = append(m.lines, claudeMemberLine{known, e.time})
		}
		return true
	})
	return m
}
