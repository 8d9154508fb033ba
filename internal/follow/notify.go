package follow

import (
	"sync"

	"github.com/fsnotify/fsnotify"
)

// maxWatched is how many folders are watched at most: systems have few watches, and polling finds what they do not tell of.
const maxWatched = 4096

// notifier is a [Notifier] by the means of the system.
type notifier struct {
	watcher *fsnotify.Watcher
	changed chan string
	done    chan struct{}
	closing sync.Once
	ended   sync.WaitGroup
}

// NewNotifier returns a notifier by the means of the system. The error says that it has none, or none left.
func NewNotifier() (Notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	n := &notifier{watcher: w, changed: make(chan string, 1024), done: make(chan struct{})}
	n.ended.Go(n.run)
	return n, nil
}

// run hands on what the system tells. What nobody takes is dropped: there is a look at everything anyhow.
func (n *notifier) run() {
	for {
		select {
		case e, ok := <-n.watcher.Events:
			if !ok {
				return
			}
			select {
			case n.changed <- e.Name:
			default:
			}
		case _, ok := <-n.watcher.Errors:
			if !ok {
				return
			}
		case <-n.done:
			return
		}
	}
}

// Watch implements [Notifier].
func (n *notifier) Watch(folders []string) {
	wanted := map[string]bool{}
	for _, dir := range folders[:min(len(folders), maxWatched)] {
		wanted[dir] = true
	}
	for _, dir := range n.watcher.WatchList() {
		if !wanted[dir] {
			_ = n.watcher.Remove(dir) // it is gone
		}
		delete(wanted, dir)
	}
	for dir := range wanted {
		_ = n.watcher.Add(dir) // without it the folder is looked at all the same
	}
}

// Changed implements [Notifier].
func (n *notifier) Changed() <-chan string { return n.changed }

// Close implements [Notifier].
func (n *notifier) Close() error {
	var err error
	n.closing.Do(func() {
		close(n.done)
		err = n.watcher.Close()
		n.ended.Wait()
	})
	return err
}
