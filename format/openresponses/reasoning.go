package openresponses

import "github.com/sessionspan/sessionspan/internal/jsonscan"

// Reasoning is what the model thought, as far as the provider shows it.
type Reasoning struct {
	ID     string
	Status string // in_progress, completed, incomplete
	// Summary is what people are shown; parts of type summary_text.
	Summary []Part
	// Content is the reasoning itself; parts of type reasoning_text.
	Content []Part
	// EncryptedContent is the reasoning in a form that only the provider can read.
	EncryptedContent string
	Unknown          Members
}

// Item builds the item. It always has a summary, also an empty one.
func (r Reasoning) Item() Item {
	var b builder
	b.fullText("type", ItemReasoning)
	b.text("id", r.ID)
	b.text("status", r.Status)
	array(&b, "summary", r.Summary, appendPart)
	if len(r.Content) > 0 {
		array(&b, "content", r.Content, appendPart)
	}
	b.text("encrypted_content", r.EncryptedContent)
	return built(ItemReasoning, b.end(r.Unknown))
}

// Reasoning returns what a reasoning item holds. The error wraps [ErrItemType] for another item and [ErrInvalid] for a
// member of the wrong kind.
func (i Item) Reasoning() (*Reasoning, error) {
	var scan jsonscan.Scanner
	o, err := openType("item", ItemReasoning, i.Type, i.Raw, &scan)
	if err != nil {
		return nil, err
	}
	r := &Reasoning{
		ID:               o.text("id"),
		Status:           o.text("status"),
		Summary:          o.parts("summary", true),
		Content:          o.parts("content", false),
		EncryptedContent: o.text("encrypted_content"),
		Unknown:          o.unknown(),
	}
	return done(r, o)
}

// Compaction is a summary of earlier items in a form that only the provider can read.
type Compaction struct {
	ID               string
	Status           string // in_progress, completed, incomplete
	EncryptedContent string
	CreatedBy        string
	Unknown          Members
}

// Item builds the item.
func (c Compaction) Item() Item {
	var b builder
	b.fullText("type", ItemCompaction)
	b.text("id", c.ID)
	b.text("status", c.Status)
	b.fullText("encrypted_content", c.EncryptedContent)
	b.text("created_by", c.CreatedBy)
	return built(ItemCompaction, b.end(c.Unknown))
}

// Compaction returns what a compaction item holds. The error wraps [ErrItemType] for another item and [ErrInvalid] for a
// member of the wrong kind.
func (i Item) Compaction() (*Compaction, error) {
	var scan jsonscan.Scanner
	o, err := openType("item", ItemCompaction, i.Type, i.Raw, &scan)
	if err != nil {
		return nil, err
	}
	c := &Compaction{
		ID:               o.text("id"),
		Status:           o.text("status"),
		EncryptedContent: o.fullText("encrypted_content"),
		CreatedBy:        o.text("created_by"),
		Unknown:          o.unknown(),
	}
	return done(c, o)
}

// Reference stands for an item that the provider has stored. Sessions may not hold it from 0.4 on (C).
type Reference struct {
	ID      string
	Unknown Members
}

// Item builds the item.
func (r Reference) Item() Item {
	var b builder
	b.fullText("type", ItemReference)
	b.fullText("id", r.ID)
	return built(ItemReference, b.end(r.Unknown))
}

// Reference returns what an item_reference holds. The error wraps [ErrItemType] for another item and [ErrInvalid] for a
// member of the wrong kind.
func (i Item) Reference() (*Reference, error) {
	var scan jsonscan.Scanner
	o, err := openType("item", ItemReference, i.Type, i.Raw, &scan)
	if err != nil {
		return nil, err
	}
	r := &Reference{ID: o.fullText("id"), Unknown: o.unknown()}
	return done(r, o)
}
