package limit

import (
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	// The window admits two units in any ten seconds.
	tests := []struct {
		name  string
		at    []time.Duration
		admit []bool
	}{
		{"full at once", []time.Duration{0, 0, 0}, []bool{true, true, false}},
		{"across the seam", []time.Duration{9 * time.Second, 9 * time.Second, 11 * time.Second},
			[]bool{true, true, false}},
		{"the first one leaves", []time.Duration{0, 5 * time.Second, 10 * time.Second, 11 * time.Second},
			[]bool{true, true, true, false}},
		{"long pause", []time.Duration{0, 0, time.Minute, time.Minute, time.Minute},
			[]bool{true, true, true, true, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := NewWindow(Rate{Count: 2, Per: 10 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			for i, at := range tt.at {
				if got := w.Allow(start.Add(at)); got != tt.admit[i] {
					t.Fatalf("unit %d at %v: %v, want %v", i+1, at, got, tt.admit[i])
				}
			}
		})
	}
}

func TestWindowNext(t *testing.T) {
	w, err := NewWindow(Rate{Count: 1, Per: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	w.Allow(start)
	if got := w.Next(start.Add(4 * time.Second)); got != 6*time.Second {
		t.Fatalf("Next = %v", got)
	}
	if got := w.Used(start.Add(10 * time.Second)); got != 0 {
		t.Fatalf("Used = %d", got)
	}
}

func TestNewWindowRefuses(t *testing.T) {
	if w, err := NewWindow(Rate{}); err == nil {
		t.Fatalf("NewWindow = %+v", w)
	}
}
