package openresponses

import "github.com/go-json-experiment/json/jsontext"

// Members are JSON members in the order in which they were written. Values are raw JSON.
type Members []Member

// Member is one member of a JSON object.
type Member struct {
	Name  string
	Value jsontext.Value
}

// Get returns the raw value of the last member with that name, or nil.
func (m Members) Get(name string) jsontext.Value {
	for i := len(m) - 1; i >= 0; i-- {
		if m[i].Name == name {
			return m[i].Value
		}
	}
	return nil
}

// Set gives a member a value: the last one of that name keeps its place, a new one comes last.
func (m *Members) Set(name string, value jsontext.Value) {
	for i := len(*m) - 1; i >= 0; i-- {
		if (*m)[i].Name == name {
			(*m)[i].Value = value
			return
		}
	}
	*m = append(*m, Member{name, value})
}

// Clone returns a copy that shares nothing with m.
func (m Members) Clone() Members {
	if m == nil {
		return nil
	}
	c := make(Members, len(m))
	for i, member := range m {
		c[i] = Member{member.Name, member.Value.Clone()}
	}
	return c
}
