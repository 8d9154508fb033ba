package tracker

// Held is how many bytes of spans are held.
func (t *Tracker) Held() int { return t.held }
