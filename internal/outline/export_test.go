package outline

// Up returns the index of the parent; -1 for a root.
func (e *Entry) Up() int { return e.up }
