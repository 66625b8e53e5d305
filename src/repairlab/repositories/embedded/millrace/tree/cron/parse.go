// Package cron reads schedules in the five-field form of crontab and finds the
// instants that they name.
package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// bounds are the values that a field may hold.
type bounds struct {
	name     string
	min, max int
	words    []string // names of the values from min on
}

var (
	minutes  = bounds{name: "minute", min: 0, max: 59}
	hours    = bounds{name: "hour", min: 0, max: 23}
	days     = bounds{name: "day of month", min: 1, max: 31}
	months   = bounds{name: "month", min: 1, max: 12, words: strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")}
	weekdays = bounds{name: "day of week", min: 0, max: 7, words: strings.Fields("sun mon tue wed thu fri sat")}
)

var nicknames = map[string]string{
	"@hourly":  "0 * * * *",
	"@daily":   "0 0 * * *",
	"@weekly":  "0 0 * * 0",
	"@monthly": "0 0 1 * *",
	"@yearly":  "0 0 1 1 *",
}

// Parse reads a schedule: minute, hour, day of month, month and day of week,
// or one of the nicknames @hourly, @daily, @weekly, @monthly and @yearly.
//
// A field is a star or a list of values, ranges (9-17) and steps (*/15, 8-20/4).
// Months and days of the week have three-letter names; Sunday is 0 and 7. The
// instants are read off the wall clock of the given place; nil means UTC.
func Parse(text string, place *time.Location) (*Schedule, error) {
	text = strings.TrimSpace(text)
	if full, ok := nicknames[strings.ToLower(text)]; ok {
		text = full
	} else if strings.HasPrefix(text, "@") {
		return nil, fmt.Errorf("cron: unknown nickname %q", text)
	}
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return nil, fmt.Errorf("cron: %q has %d fields, want 5", text, len(fields))
	}
	if place == nil {
		place = time.UTC
	}
	s := &Schedule{text: strings.Join(fields, " "), place: place}
	var err error
	for i, target := range []struct {
		set    *set
		bounds bounds
	}{{&s.minute, minutes}, {&s.hour, hours}, {&s.day, days}, {&s.month, months}, {&s.weekday, weekdays}} {
		if *target.set, err = parseField(fields[i], target.bounds); err != nil {
			return nil, err
		}
	}
	if s.weekday.has(7) {
		s.weekday.add(0)
	}
	s.anyDay = strings.HasPrefix(fields[2], "*")
	s.anyWeekday = strings.HasPrefix(fields[4], "*")
	return s, nil
}

func parseField(text string, b bounds) (set, error) {
	var s set
	for _, part := range strings.Split(text, ",") {
		low, high, step, err := parsePart(part, b)
		if err != nil {
			return 0, fmt.Errorf("cron: %s %q: %w", b.name, part, err)
		}
		for v := low; v <= high; v += step {
			s.add(v)
		}
	}
	return s, nil
}

func parsePart(part string, b bounds) (low, high, step int, err error) {
	span, stepText, stepped := strings.Cut(part, "/")
	step = 1
	if stepped {
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
			return 0, 0, 0, fmt.Errorf("the step is no whole number from 1")
		}
	}
	if span == "*" {
		return b.min, b.max, step, nil
	}
	first, last, ranged := strings.Cut(span, "-")
	if low, err = b.value(first); err != nil {
		return 0, 0, 0, err
	}
	switch {
	case ranged:
		if high, err = b.value(last); err != nil {
			return 0, 0, 0, err
		}
	case stepped:
		high = b.max
	default:
		high = low
	}
	if high < low {
		return 0, 0, 0, fmt.Errorf("the range runs backwards")
	}
	return low, high, step, nil
}

func (b bounds) value(text string) (int, error) {
	for i, word := range b.words {
		if strings.EqualFold(text, word) {
			return b.min + i, nil
		}
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no value", text)
	}
	if v < b.min || v > b.max {
		return 0, fmt.Errorf("%d is not within %d and %d", v, b.min, b.max)
	}
	return v, nil
}

// set holds small numbers, one a bit.
type set uint64

func (s *set) add(v int)     { *s |= 1 << v }
func (s set) has(v int) bool { return s&(1<<v) != 0 }
