package codec

import (
	"errors"
	"strings"
)

var errEscape = errors.New("a backslash with nothing known behind it")

// Escape makes text safe to stand in a field: white space, the equals sign and
// the backslash get a backslash and a letter. All other bytes stay as they are.
func Escape(text string) string {
	if !strings.ContainsAny(text, "\\ =\t\r\n") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 8)
	for i := 0; i < len(text); i++ {
		if letter := escapeLetter(text[i]); letter != 0 {
			b.WriteByte('\\')
			b.WriteByte(letter)
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Unescape undoes Escape.
func Unescape(text string) (string, error) {
	if strings.IndexByte(text, '\\') < 0 {
		return text, nil
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		i++
		if i == len(text) {
			return "", errEscape
		}
		c := unescapeLetter(text[i])
		if c == 0 {
			return "", errEscape
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

func escapeLetter(c byte) byte {
	switch c {
	case '\\':
		return '\\'
	case ' ':
		return 's'
	case '=':
		return 'e'
	case '\t':
		return 't'
	case '\r':
		return 'r'
	case '\n':
		return 'n'
	}
	return 0
}

func unescapeLetter(letter byte) byte {
	switch letter {
	case '\\':
		return '\\'
	case 's':
		return ' '
	case 'e':
		return '='
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'n':
		return '\n'
	}
	return 0
}
