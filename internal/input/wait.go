package input

import (
	"context"
	"sync"
	"time"
)

// patience is how long a stream may be silent before that is said.
const patience = time.Second

type waitKey struct{}

// waits says of each path once that it is silent.
type waits struct {
	patience time.Duration
	tell     func(path string)

	mu   sync.Mutex
	told map[string]bool
}

// WithWait has tell called with the path of what is opened or read under the context and says nothing for a while, once for
// each. It is called from another goroutine, while the reader waits.
func WithWait(ctx context.Context, tell func(path string)) context.Context {
	return context.WithValue(ctx, waitKey{}, &waits{patience: patience, tell: tell, told: map[string]bool{}})
}

// sayWait begins to wait for a path, and returns what ends that.
func sayWait(ctx context.Context, path string) (end func()) {
	w, ok := ctx.Value(waitKey{}).(*waits)
	if !ok {
		return func() {}
	}
	timer := time.AfterFunc(w.patience, func() { w.say(path) })
	return func() { timer.Stop() }
}

func (w *waits) say(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.told[path] {
		w.told[path] = true
		w.tell(path)
	}
}
