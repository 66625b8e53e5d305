package cron

import (
	"iter"
	"slices"
	"time"
)

// Schedule is a set of instants. It never changes and may be shared.
type Schedule struct {
	text                              string
	place                             *time.Location
	minute, hour, day, month, weekday set
	anyDay, anyWeekday                bool
}

// horizon bounds the search for an instant: a schedule such as February 30th
// names none.
const horizon = 5 * 366

// String is the schedule as five fields.
func (s *Schedule) String() string { return s.text }

// Next returns the first instant after t, or the zero time when there is none
// within about five years. A wall-clock time that a change to summer time
// leaves out is not made up for; one that comes twice counts once.
func (s *Schedule) Next(t time.Time) time.Time {
	local := t.In(s.place)
	year, month, day := local.Date()
	for n := range horizon {
		date := time.Date(year, month, day+n, 12, 0, 0, 0, s.place)
		if !s.onDay(date) {
			continue
		}
		if found := s.firstAfter(t, date); !found.IsZero() {
			return found
		}
	}
	return time.Time{}
}

// Previous returns the last instant up to and with t, or the zero time when
// there is none within about five years before.
func (s *Schedule) Previous(t time.Time) time.Time {
	local := t.In(s.place)
	year, month, day := local.Date()
	for n := range horizon {
		date := time.Date(year, month, day-n, 12, 0, 0, 0, s.place)
		if !s.onDay(date) {
			continue
		}
		var found time.Time
		for at := range s.instants(date) {
			if at.After(t) {
				break
			}
			found = at
		}
		if !found.IsZero() {
			return found
		}
	}
	return time.Time{}
}

// firstAfter looks for an instant after t on the day of date.
func (s *Schedule) firstAfter(t, date time.Time) time.Time {
	for at := range s.instants(date) {
		if at.After(t) {
			return at
		}
	}
	return time.Time{}
}

// instants gives the wall-clock times of the schedule on the day of date, the
// earliest first, without those that a change to summer time leaves out.
func (s *Schedule) instants(date time.Time) iter.Seq[time.Time] {
	year, month, day := date.Date()
	return func(yield func(time.Time) bool) {
		for hour := range 24 {
			if !s.hour.has(hour) {
				continue
			}
			for minute := range 60 {
				if !s.minute.has(minute) {
					continue
				}
				at := time.Date(year, month, day, hour, minute, 0, 0, s.place)
				leftOut := at.Hour() != hour || at.Minute() != minute
				if !leftOut && !yield(at) {
					return
				}
			}
		}
	}
}

// onDay reports whether the schedule has instants on the day of date. As in
// crontab, a day that fits either of the two day fields is enough when both
// are narrowed down.
func (s *Schedule) onDay(date time.Time) bool {
	if !s.month.has(int(date.Month())) {
		return false
	}
	fitsDay := s.day.has(date.Day())
	fitsWeekday := s.weekday.has(int(date.Weekday()))
	if s.anyDay || s.anyWeekday {
		return fitsDay && fitsWeekday
	}
	return fitsDay || fitsWeekday
}

// Between lists the instants after from, up to and with until, the earliest
// first. It stops at limit of them.
func (s *Schedule) Between(from, until time.Time, limit int) []time.Time {
	var out []time.Time
	for at := s.Next(from); !at.IsZero() && !at.After(until) && len(out) < limit; at = s.Next(at) {
		out = append(out, at)
	}
	return slices.Clip(out)
}
