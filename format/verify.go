package format

import (
	"fmt"
	"slices"
)

// Verify rebuilds the request behind a response and compares its hash with the one recorded (A.8). The error is [ErrNoHash] when
// there is none, and wraps [ErrHashMismatch], [ErrSettings] or [ErrFirstKept], or says why the request cannot be hashed.
func (s *Session) Verify(response string) error {
	c, err := s.RequestContext(response)
	if err != nil {
		return err
	}
	e, _ := s.Entry(response)
	recorded := e.(*ResponseEntry).RequestHash
	if recorded == "" {
		return ErrNoHash
	}
	req, err := c.Request()
	if err != nil {
		return err
	}
	hash, err := req.Hash()
	if err != nil {
		return err
	}
	return compareHash(recorded, hash)
}

func compareHash(recorded, rebuilt string) error {
	if recorded != rebuilt {
		return fmt.Errorf("%w: recorded %.100s, rebuilt %s", ErrHashMismatch, recorded, rebuilt)
	}
	return nil
}

// VerifyRecords checks the records on the path to an entry (A.12): the ends of runs, what is recorded of calls and in what
// order, and that what the header promises is there. It returns the first finding, which [errors.Is] tells apart, or nil; also nil
// for a file of a minor yet to come, whose rules may be others.
func (s *Session) VerifyRecords(leaf string) error {
	path, err := s.Path(leaf)
	if err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := newChecker(s)
	for place, e := range path {
		c.at = s.index[e.Base().ID]
		c.records(e, place)
	}
	c.leaf()
	slices.SortStableFunc(c.findings, (*Finding).compare)
	for _, f := range c.findings {
		if !f.Note {
			return f
		}
	}
	return nil
}
