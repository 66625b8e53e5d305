// Package config reads the description of queues and recurring jobs:
//
//	# one section for each queue
//	[queue mail]
//	rate = 5/s
//	burst = 10
//	backoff = exponential:1s,max=5m
//	lease = 2m
//
//	[recurring digest]
//	queue = mail
//	kind = digest
//	schedule = 0 7 * * mon-fri
//	catchup = skip
package config

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Section is one headed part of a file.
type Section struct {
	// Kind and Name are the two words of the heading.
	Kind, Name string
	// Line is the number of the heading's line, from 1.
	Line int

	settings []setting
}

type setting struct {
	key, value string
	line       int
}

// Error is a fault of a file, with its line.
type Error struct {
	Line    int
	Problem string
}

func (e *Error) Error() string {
	return fmt.Sprintf("config: line %d: %s", e.Line, e.Problem)
}

// Parse reads sections. It knows nothing of what they mean.
func Parse(r io.Reader) ([]Section, error) {
	var sections []Section
	seen := map[[2]string]bool{}
	scanner := bufio.NewScanner(r)
	for number := 1; scanner.Scan(); number++ {
		line := strings.TrimSpace(scanner.Text())
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "["):
			s, err := heading(line, number)
			if err != nil {
				return nil, err
			}
			if seen[[2]string{s.Kind, s.Name}] {
				return nil, &Error{number, fmt.Sprintf("a second section [%s %s]", s.Kind, s.Name)}
			}
			seen[[2]string{s.Kind, s.Name}] = true
			sections = append(sections, s)
		case len(sections) == 0:
			return nil, &Error{number, "a setting before the first section"}
		default:
			if err := sections[len(sections)-1].add(line, number); err != nil {
				return nil, err
			}
		}
	}
	return sections, scanner.Err()
}

func heading(line string, number int) (Section, error) {
	inner, closed := strings.CutSuffix(line[1:], "]")
	words := strings.Fields(inner)
	if !closed || len(words) != 2 {
		return Section{}, &Error{number, fmt.Sprintf("%q is no heading of the form [kind name]", line)}
	}
	return Section{Kind: words[0], Name: words[1], Line: number}, nil
}

func (s *Section) add(line string, number int) error {
	key, value, found := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !found || key == "" || value == "" {
		return &Error{number, fmt.Sprintf("%q is no setting of the form key = value", line)}
	}
	for _, other := range s.settings {
		if other.key == key {
			return &Error{number, fmt.Sprintf("%s is set twice", key)}
		}
	}
	s.settings = append(s.settings, setting{key, value, number})
	return nil
}

// Get returns a setting, or fallback where the section has none.
func (s Section) Get(key, fallback string) string {
	for _, setting := range s.settings {
		if setting.key == key {
			return setting.value
		}
	}
	return fallback
}

// line is where a setting stands, or where the section begins.
func (s Section) line(key string) int {
	for _, setting := range s.settings {
		if setting.key == key {
			return setting.line
		}
	}
	return s.Line
}

// only refuses settings that are not among the known ones.
func (s Section) only(known ...string) error {
	for _, setting := range s.settings {
		if !contains(known, setting.key) {
			return &Error{setting.line, fmt.Sprintf("a %s has no setting %q", s.Kind, setting.key)}
		}
	}
	return nil
}

func contains(list []string, text string) bool {
	for _, item := range list {
		if item == text {
			return true
		}
	}
	return false
}
