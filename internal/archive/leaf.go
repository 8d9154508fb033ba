package archive

import (
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// entryFinder finds the entry that a selection names, by its id or the beginning of it; of an id that is a hash, also
// without the name of the hash.
type entryFinder struct {
	id    string
	begin []string // entries whose ids begin so, each once; no more than it takes to tell
}

// watch looks at the events on their way to a projector.
func (f *entryFinder) watch(feed func(*activity.Event)) func(*activity.Event) {
	if f.id == "" {
		return feed
	}
	return func(ev *activity.Event) {
		if ev.Part == 0 && len(f.begin) <= maxCandidates && f.begins(ev.Key) && !slices.Contains(f.begin, ev.Key) {
			f.begin = append(f.begin, strings.Clone(ev.Key))
		}
		feed(ev)
	}
}

func (f *entryFinder) begins(key string) bool {
	return strings.HasPrefix(key, f.id) || strings.HasPrefix(strings.TrimPrefix(key, format.HashPrefix), f.id)
}

// entry returns the id of the entry, once the file has been read; what was given, when there is none. The error wraps
// [ErrManyIDs].
func (f *entryFinder) entry(p *projection.Projector) (string, error) {
	if f.id == "" {
		return "", nil
	}
	if _, whole := p.OnPath(f.id); whole {
		return f.id, nil
	}
	known := slices.DeleteFunc(f.begin, func(key string) bool {
		_, ok := p.OnPath(key)
		return !ok
	})
	switch len(known) {
	case 0:
		return f.id, nil
	case 1:
		return known[0], nil
	}
	return f.id, several(f.id, known)
}
