package format

import (
	"fmt"
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
		return fmt.Errorf("%w: recorded %s, rebuilt %s", ErrHashMismatch, recorded, rebuilt)
	}
	return nil
}

// VerifyRecords checks the records on the path to an entry (A.12): the ends of runs, what is recorded of calls and in what
// order, and that what the header promises is there. It returns the first finding, which [errors.Is] tells apart, or nil.
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
		if len(c.findings) > 0 {
			return c.findings[0]
		}
	}
	return nil
}
