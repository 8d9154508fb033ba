package benchmark

import (
	"runtime"
	"sync"
	"time"
)

// watchHeap looks at the heap until it is asked what the most was, in bytes.
func watchHeap() (most func() uint64) {
	runtime.GC()
	stop := make(chan struct{})
	var looking sync.WaitGroup
	peak := uint64(0)
	looking.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse+m.StackInuse)
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	})
	return func() uint64 {
		close(stop)
		looking.Wait()
		return peak
	}
}
