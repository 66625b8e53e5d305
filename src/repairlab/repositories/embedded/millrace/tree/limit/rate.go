package limit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate is a number of units within a time.
type Rate struct {
	Count int
	Per   time.Duration
}

var unitNames = map[string]time.Duration{
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
}

// ParseRate reads "5/s", "100/minute", "3/10s" or "1/90m".
func ParseRate(text string) (Rate, error) {
	count, per, found := strings.Cut(strings.TrimSpace(text), "/")
	if !found {
		return Rate{}, fmt.Errorf("limit: rate %q has no slash", text)
	}
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if err != nil || n < 1 {
		return Rate{}, fmt.Errorf("limit: rate %q does not begin with a whole number from 1", text)
	}
	per = strings.TrimSpace(per)
	if unit, ok := unitNames[per]; ok {
		return Rate{Count: n, Per: unit}, nil
	}
	d, err := time.ParseDuration(per)
	if err != nil || d <= 0 {
		return Rate{}, fmt.Errorf("limit: rate %q has no time after the slash", text)
	}
	return Rate{Count: n, Per: d}, nil
}

// Interval is the time between two units when they are spread evenly.
func (r Rate) Interval() time.Duration {
	return max(r.Per/time.Duration(max(r.Count, 1)), 1)
}

// String gives the short form that ParseRate reads.
func (r Rate) String() string {
	switch r.Per {
	case time.Second:
		return fmt.Sprintf("%d/s", r.Count)
	case time.Minute:
		return fmt.Sprintf("%d/m", r.Count)
	case time.Hour:
		return fmt.Sprintf("%d/h", r.Count)
	}
	return fmt.Sprintf("%d/%s", r.Count, r.Per)
}
