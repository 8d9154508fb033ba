package format

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Clone returns a copy of an entry that shares nothing with it, so that it stays valid after the next read.
func Clone(e Entry) Entry {
	switch e := e.(type) {
	case *ItemEntry:
		c := *e
		c.Envelope = e.clone()
		c.Item = e.Item.Clone()
		c.Visible = clonePointer(e.Visible)
		c.Source = e.Source.Clone()
		return &c
	case *ResponseEntry:
		c := *e
		c.Envelope = e.clone()
		c.Usage = e.Usage.Clone()
		if c.Incomplete = clonePointer(e.Incomplete); c.Incomplete != nil {
			c.Incomplete.Raw = c.Incomplete.Raw.Clone()
		}
		if c.Error = clonePointer(e.Error); c.Error != nil {
			c.Error.Raw = c.Error.Raw.Clone()
		}
		c.LatencyMS = clonePointer(e.LatencyMS)
		c.Attempts = clonePointer(e.Attempts)
		return &c
	case *ConfigEntry:
		c := *e
		c.Envelope = e.clone()
		c.Instructions = clonePointer(e.Instructions)
		c.Reasoning = e.Reasoning.Clone()
		c.Text = e.Text.Clone()
		c.ToolsAdded = cloneEach(e.ToolsAdded, jsontext.Value.Clone)
		c.ToolsRemoved = slices.Clone(e.ToolsRemoved)
		c.Extra = e.Extra.Clone()
		c.Parts = e.Parts.Clone()
		c.Omitted = e.Omitted.Clone()
		c.Omit = e.Omit.Clone()
		return &c
	case *CompactionEntry:
		c := *e
		c.Envelope = e.clone()
		c.Summary = e.Summary.Clone()
		c.Config = e.Config.Clone()
		c.TokensBefore = clonePointer(e.TokensBefore)
		c.Usage = e.Usage.Clone()
		c.Pinned = cloneEach(e.Pinned, Item.Clone)
		return &c
	case *BranchSummaryEntry:
		c := *e
		c.Envelope = e.clone()
		c.Summary = e.Summary.Clone()
		c.Usage = e.Usage.Clone()
		return &c
	case *RunEntry:
		c := *e
		c.Envelope = e.clone()
		c.Pending = slices.Clone(e.Pending)
		c.Trigger = e.Trigger.clone()
		return &c
	case *DispatchEntry:
		c := *e
		c.Envelope = e.clone()
		return &c
	case *DecisionEntry:
		c := *e
		c.Envelope = e.clone()
		c.Args = e.Args.Clone()
		return &c
	case *LabelEntry:
		c := *e
		c.Envelope = e.clone()
		c.Label = clonePointer(e.Label)
		return &c
	case *InfoEntry:
		c := *e
		c.Envelope = e.clone()
		return &c
	case *EnvEntry:
		c := *e
		c.Envelope = e.clone()
		if c.VCS = clonePointer(e.VCS); c.VCS != nil {
			c.VCS.Unknown = c.VCS.Unknown.Clone()
		}
		if e.Files != nil {
			c.Files = &FileHashes{maps.Clone(e.Files.Read), maps.Clone(e.Files.Written), e.Files.Unknown.Clone()}
		}
		c.Tools = maps.Clone(e.Tools)
		if c.Workspace = clonePointer(e.Workspace); c.Workspace != nil {
			c.Workspace.Unknown = c.Workspace.Unknown.Clone()
		}
		return &c
	case *OutcomeEntry:
		c := *e
		c.Envelope = e.clone()
		c.Score = clonePointer(e.Score)
		c.Pass = clonePointer(e.Pass)
		c.Details = e.Details.Clone()
		return &c
	case *LinkEntry:
		c := *e
		c.Envelope = e.clone()
		return &c
	case *CustomEntry:
		c := *e
		c.Envelope = e.clone()
		c.Data = e.Data.Clone()
		return &c
	case *QueuedEntry:
		c := *e
		c.Envelope = e.clone()
		c.Item = e.Item.Clone()
		c.Trigger = e.Trigger.clone()
		return &c
	case *UnknownEntry:
		c := *e
		c.Envelope = e.clone()
		return &c
	}
	return e // nil, or of a type of the caller's own, which this package never returns
}

func (e Envelope) clone() Envelope {
	e.Parents = slices.Clone(e.Parents)
	e.Unknown = e.Unknown.Clone()
	return e
}

func (t *Trigger) clone() *Trigger {
	c := clonePointer(t)
	if c != nil {
		c.Unknown = c.Unknown.Clone()
	}
	return c
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

func cloneEach[S ~[]E, E any](list S, clone func(E) E) S {
	if list == nil {
		return nil
	}
	c := make(S, len(list))
	for i, e := range list {
		c[i] = clone(e)
	}
	return c
}
