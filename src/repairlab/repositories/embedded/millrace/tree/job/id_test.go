package job

import (
	"testing"
	"time"
)

func TestGeneratorSorts(t *testing.T) {
	var g Generator
	previous := ID("")
	for i := range 2000 {
		id := g.Next(noon.Add(time.Duration(i/100) * time.Millisecond))
		if id <= previous {
			t.Fatalf("id %d: %q does not sort after %q", i, id, previous)
		}
		previous = id
	}
}

func TestGeneratorIgnoresStepsBack(t *testing.T) {
	var g Generator
	first := g.Next(noon)
	second := g.Next(noon.Add(-time.Hour))
	if second <= first {
		t.Fatalf("%q does not sort after %q", second, first)
	}
}

func TestIDTime(t *testing.T) {
	var g Generator
	id := g.Next(noon.Add(123 * time.Millisecond))
	if got := id.Time(); !got.Equal(noon.Add(123 * time.Millisecond)) {
		t.Fatalf("Time = %v", got)
	}
}

func TestParseID(t *testing.T) {
	var g Generator
	good := string(g.Next(noon))
	tests := []struct {
		name, text string
		ok         bool
	}{
		{"made by a generator", good, true},
		{"too short", good[1:], false},
		{"letter outside the alphabet", "u" + good[1:], false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id, err := ParseID(tt.text)
			if (err == nil) != tt.ok {
				t.Fatalf("ParseID(%q) = %v", tt.text, err)
			}
			if tt.ok && string(id) != tt.text {
				t.Fatalf("ParseID changed %q to %q", tt.text, id)
			}
		})
	}
}
