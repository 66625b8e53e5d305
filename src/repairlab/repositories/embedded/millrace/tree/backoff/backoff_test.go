package backoff

import (
	"math"
	"testing"
	"time"
)

func TestDelay(t *testing.T) {
	exponential := Exponential{Base: time.Second, Factor: 2, Max: time.Minute}
	tests := []struct {
		name    string
		policy  Policy
		attempt int
		want    time.Duration
	}{
		{"fixed", Fixed(5 * time.Second), 9, 5 * time.Second},
		{"linear first", Linear{Step: 3 * time.Second}, 1, 3 * time.Second},
		{"linear third", Linear{Step: 3 * time.Second}, 3, 9 * time.Second},
		{"linear bounded", Linear{Step: 3 * time.Second, Max: 7 * time.Second}, 3, 7 * time.Second},
		{"linear beyond the range", Linear{Step: math.MaxInt64 / 2}, 3, math.MaxInt64},
		{"exponential first", exponential, 1, time.Second},
		{"exponential fourth", exponential, 4, 8 * time.Second},
		{"exponential bounded", exponential, 7, time.Minute},
		{"exponential far out", exponential, 10_000, time.Minute},
		{"exponential unbounded far out", Exponential{Base: time.Second, Factor: 2}, 100, math.MaxInt64},
		{"exponential without factor", Exponential{Base: time.Second}, 6, time.Second},
		{"steps inside", Steps{1, 2, 3}, 2, 2},
		{"steps beyond", Steps{1, 2, 3}, 8, 3},
		{"steps before", Steps{1, 2, 3}, 0, 1},
		{"steps empty", Steps{}, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.policy.Delay(tt.attempt); got != tt.want {
				t.Fatalf("Delay(%d) = %v, want %v", tt.attempt, got, tt.want)
			}
		})
	}
}

func TestJitter(t *testing.T) {
	half := func() float64 { return 0.5 }
	tests := []struct {
		name   string
		jitter Jitter
		want   time.Duration
	}{
		{"a quarter off", Jitter{Fixed(8 * time.Second), 0.5, half}, 6 * time.Second},
		{"share above one", Jitter{Fixed(8 * time.Second), 4, half}, 4 * time.Second},
		{"no share", Jitter{Fixed(8 * time.Second), 0, half}, 8 * time.Second},
		{"no source", Jitter{Fixed(8 * time.Second), 1, nil}, 8 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.jitter.Delay(1); got != tt.want {
				t.Fatalf("Delay = %v, want %v", got, tt.want)
			}
		})
	}
}
