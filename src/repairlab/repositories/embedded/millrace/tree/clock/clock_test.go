package clock

import (
	"testing"
	"time"
)

var start = time.Date(2024, time.March, 1, 9, 0, 0, 0, time.UTC)

func TestManualAdvance(t *testing.T) {
	m := NewManual(start)
	if got := m.Advance(90 * time.Second); !got.Equal(start.Add(90 * time.Second)) {
		t.Fatalf("Advance = %v", got)
	}
	if !m.Now().Equal(start.Add(90 * time.Second)) {
		t.Fatalf("Now = %v", m.Now())
	}
}

func TestManualAfter(t *testing.T) {
	tests := []struct {
		name    string
		wait    time.Duration
		advance time.Duration
		fired   bool
	}{
		{"zero is over at once", 0, 0, true},
		{"negative is over at once", -time.Second, 0, true},
		{"not yet", time.Minute, 59 * time.Second, false},
		{"exactly", time.Minute, time.Minute, true},
		{"long past", time.Minute, time.Hour, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := NewManual(start)
			ch := m.After(tt.wait)
			m.Advance(tt.advance)
			select {
			case <-ch:
				if !tt.fired {
					t.Fatal("fired too early")
				}
			default:
				if tt.fired {
					t.Fatal("did not fire")
				}
			}
		})
	}
}

func TestManualWaiting(t *testing.T) {
	m := NewManual(start)
	m.After(time.Second)
	m.After(time.Minute)
	m.Advance(time.Second)
	if got := m.Waiting(); got != 1 {
		t.Fatalf("Waiting = %d, want 1", got)
	}
}

func TestManualRefusesToGoBack(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("Advance by a negative duration did not panic")
		}
	}()
	NewManual(start).Advance(-time.Second)
}
