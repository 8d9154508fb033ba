package projection

// KeepEvery has the projector keep states so many entries apart, and those of the tips that were left last or not.
func (p *Projector) KeepEvery(entries uint32, left bool) {
	p.kept.every = entries
	if !left {
		p.kept.left = nil
	}
}
