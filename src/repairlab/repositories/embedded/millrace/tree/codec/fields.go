// Package codec turns values of this module into lines of text and back.
//
// A line is a list of fields, NAME=VALUE, separated by single spaces. It holds
// no line break, so that a file of lines can be read after a crash up to the
// last whole one.
package codec

import (
	"fmt"
	"strings"
)

// Field is one named value of a line.
type Field struct {
	Name, Value string
}

// Fields is a line in parts. The order is kept; a name may stand only once.
type Fields []Field

// Add appends a field, unless its value is empty.
func (f *Fields) Add(name, value string) {
	if value != "" {
		*f = append(*f, Field{name, value})
	}
}

// Get is the value of a field, or the empty string.
func (f Fields) Get(name string) string {
	for _, field := range f {
		if field.Name == name {
			return field.Value
		}
	}
	return ""
}

// Encode writes the fields as one line, without a line break at its end.
func (f Fields) Encode() (string, error) {
	var b strings.Builder
	seen := make(map[string]bool, len(f))
	for i, field := range f {
		if !validName(field.Name) {
			return "", fmt.Errorf("codec: %q is no name of a field", field.Name)
		}
		if seen[field.Name] {
			return "", fmt.Errorf("codec: field %s is given twice", field.Name)
		}
		seen[field.Name] = true
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(field.Name)
		b.WriteByte('=')
		b.WriteString(Escape(field.Value))
	}
	return b.String(), nil
}

// Decode reads one line. An empty line has no fields.
func Decode(line string) (Fields, error) {
	if line == "" {
		return nil, nil
	}
	var fields Fields
	seen := map[string]bool{}
	for _, part := range strings.Split(line, " ") {
		name, escaped, found := strings.Cut(part, "=")
		if !found || !validName(name) {
			return nil, fmt.Errorf("codec: %q is no field", part)
		}
		if seen[name] {
			return nil, fmt.Errorf("codec: field %s is given twice", name)
		}
		seen[name] = true
		value, err := Unescape(escaped)
		if err != nil {
			return nil, fmt.Errorf("codec: field %s: %w", name, err)
		}
		fields = append(fields, Field{name, value})
	}
	return fields, nil
}

func validName(name string) bool {
	if name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		lower := c >= 'a' && c <= 'z'
		later := i > 0 && (c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-')
		if !lower && !later {
			return false
		}
	}
	return true
}
