package backoff

import (
	"reflect"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		want Policy
	}{
		{"fixed:30s", Fixed(30 * time.Second)},
		{" fixed: 1m ", Fixed(time.Minute)},
		{"linear:10s,max=5m", Linear{Step: 10 * time.Second, Max: 5 * time.Minute}},
		{"exponential:1s", Exponential{Base: time.Second, Factor: 2}},
		{"exponential:1s,factor=3,max=1h", Exponential{Base: time.Second, Factor: 3, Max: time.Hour}},
		{"steps:1s,10s,1m", Steps{time.Second, 10 * time.Second, time.Minute}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := Parse(tt.text)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Fatalf("Parse = %#v, %v; want %#v", got, err, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "fixed", "fixed:", "fixed:-1s", "fixed:1s,max=2s", "cubic:1s", "linear:1s,max", "linear:1s,max=1s,max=2s",
		"exponential:1s,factor=0", "exponential:1s,factor=x", "steps:1s,soon",
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := Parse(text); err == nil {
				t.Fatalf("Parse(%q) = %#v", text, got)
			}
		})
	}
}
