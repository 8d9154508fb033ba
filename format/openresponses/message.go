package openresponses

import "github.com/sessionspan/sessionspan/internal/jsonscan"

// Message is a message to or from the model.
type Message struct {
	ID      string
	Status  string // in_progress, completed, incomplete
	Role    string // one of the Role… constants
	Content []Part
	Phase   string // of an assistant: commentary, final_answer
	Unknown Members
}

// Roles of messages (A.5).
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"
	RoleDeveloper = "developer"
)

// UserText is a message of the user with one part.
func UserText(text string) Item { return inputMessage(RoleUser, text) }

// SystemText is a system message with one part.
func SystemText(text string) Item { return inputMessage(RoleSystem, text) }

// DeveloperText is a message of the developer with one part.
func DeveloperText(text string) Item { return inputMessage(RoleDeveloper, text) }

// AssistantText is a completed message of the model with one part.
func AssistantText(text string) Item {
	return Message{Status: StatusCompleted, Role: RoleAssistant, Content: []Part{OutputText(text)}}.Item()
}

func inputMessage(role, text string) Item {
	return Message{Role: role, Content: []Part{InputText(text)}}.Item()
}

// Item builds the item. Its content is an array of parts, also an empty one (A.8).
func (m Message) Item() Item {
	var b builder
	b.fullText("type", ItemMessage)
	b.text("id", m.ID)
	b.text("status", m.Status)
	b.fullText("role", m.Role)
	array(&b, "content", m.Content, appendPart)
	b.text("phase", m.Phase)
	return built(ItemMessage, b.end(m.Unknown))
}

// Message returns what a message holds. A content that is a bare string is one part: output_text of an assistant, else
// input_text (A.8). The error wraps [ErrItemType] for another item and [ErrInvalid] for a member of the wrong kind.
func (i Item) Message() (*Message, error) {
	var scan jsonscan.Scanner
	o, err := openType("item", ItemMessage, i.Type, i.Raw, &scan)
	if err != nil {
		return nil, err
	}
	m := &Message{ID: o.text("id"), Status: o.text("status"), Role: o.fullText("role"), Phase: o.text("phase")}
	switch content := o.value("content"); jsonscan.Kind(content) {
	case '"':
		part := Part{Type: PartInputText, Text: o.fullText("content")}
		if m.Role == RoleAssistant {
			part.Type = PartOutputText
		}
		m.Content = []Part{part}
	case 0, 'n', '[':
		m.Content = o.parts("content", true)
	default:
		o.wrongKind("content", content, "a string or an array")
	}
	m.Unknown = o.unknown()
	return done(m, o)
}
