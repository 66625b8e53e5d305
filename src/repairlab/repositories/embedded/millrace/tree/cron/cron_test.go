package cron

import (
	"strings"
	"testing"
	"time"
)

const layout = "2006-01-02 15:04:05 Mon"

func TestNext(t *testing.T) {
	tests := []struct {
		name, schedule, after, want string
	}{
		{"every minute", "* * * * *", "2024-06-03 08:00:30 Mon", "2024-06-03 08:01:00 Mon"},
		{"strictly after", "0 8 * * *", "2024-06-03 08:00:00 Mon", "2024-06-04 08:00:00 Tue"},
		{"steps", "*/20 * * * *", "2024-06-03 08:41:00 Mon", "2024-06-03 09:00:00 Mon"},
		{"step from a value", "5/25 * * * *", "2024-06-03 08:30:00 Mon", "2024-06-03 08:55:00 Mon"},
		{"step in a range", "0 8-20/4 * * *", "2024-06-03 16:00:00 Mon", "2024-06-03 20:00:00 Mon"},
		{"list", "15,45 9 * * *", "2024-06-03 09:15:00 Mon", "2024-06-03 09:45:00 Mon"},
		{"end of year", "@yearly", "2024-06-03 08:00:00 Mon", "2025-01-01 00:00:00 Wed"},
		{"leap day", "0 0 29 feb *", "2024-06-03 08:00:00 Mon", "2028-02-29 00:00:00 Tue"},
		{"31st skips short months", "0 0 31 * *", "2024-08-31 12:00:00 Sat", "2024-10-31 00:00:00 Thu"},
		{"weekday names", "30 6 * * mon-fri", "2024-06-07 07:00:00 Fri", "2024-06-10 06:30:00 Mon"},
		{"sunday as seven", "0 0 * * 7", "2024-06-03 08:00:00 Mon", "2024-06-09 00:00:00 Sun"},
		{"weekend as a range", "0 0 * * 6-7", "2024-06-08 00:00:00 Sat", "2024-06-09 00:00:00 Sun"},
		{"either day field", "0 0 13 * fri", "2024-06-08 00:00:00 Sat", "2024-06-13 00:00:00 Thu"},
		{"nickname", "@Weekly", "2024-06-03 08:00:00 Mon", "2024-06-09 00:00:00 Sun"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.schedule, nil)
			if err != nil {
				t.Fatal(err)
			}
			after, err := time.Parse(layout, tt.after)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Next(after).Format(layout); got != tt.want {
				t.Fatalf("Next = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestPrevious(t *testing.T) {
	tests := []struct {
		name, schedule, at, want string
	}{
		{"exactly", "0 8 * * *", "2024-06-03 08:00:00 Mon", "2024-06-03 08:00:00 Mon"},
		{"same day", "*/20 * * * *", "2024-06-03 08:41:00 Mon", "2024-06-03 08:40:00 Mon"},
		{"day before", "0 22 * * *", "2024-06-03 08:00:00 Mon", "2024-06-02 22:00:00 Sun"},
		{"leap day", "0 0 29 feb *", "2024-02-28 08:00:00 Wed", "2020-02-29 00:00:00 Sat"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.schedule, nil)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(layout, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Previous(at).Format(layout); got != tt.want {
				t.Fatalf("Previous = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNextInAFixedPlace(t *testing.T) {
	place := time.FixedZone("two ahead", 2*60*60)
	s, err := Parse("0 1 * * *", place)
	if err != nil {
		t.Fatal(err)
	}
	after := time.Date(2024, time.June, 3, 23, 30, 0, 0, time.UTC)
	want := time.Date(2024, time.June, 4, 23, 0, 0, 0, time.UTC)
	if got := s.Next(after); !got.Equal(want) {
		t.Fatalf("Next = %v, want %v", got.UTC(), want)
	}
}

func TestNextOfNothing(t *testing.T) {
	s, err := Parse("0 0 30 2 *", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Next(time.Date(2024, time.June, 3, 0, 0, 0, 0, time.UTC)); !got.IsZero() {
		t.Fatalf("Next = %v", got)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, text, problem string }{
		{"too few fields", "* * * *", "4 fields"},
		{"too large", "60 * * * *", "not within"},
		{"too small", "* * 0 * *", "not within"},
		{"no step", "*/0 * * * *", "step"},
		{"backwards", "* 17-9 * * *", "backwards"},
		{"no value", "* * * brumaire *", "no value"},
		{"empty part", "1,,2 * * * *", "no value"},
		{"nickname", "@fortnightly", "nickname"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.text, nil)
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Fatalf("Parse = %v, %v; want an error about %q", s, err, tt.problem)
			}
		})
	}
}

func TestBetween(t *testing.T) {
	s, err := Parse("@hourly", nil)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2024, time.June, 3, 8, 0, 0, 0, time.UTC)
	tests := []struct {
		name  string
		span  time.Duration
		limit int
		want  int
	}{
		{"with its end", 3 * time.Hour, 10, 3},
		{"without its begin", 59 * time.Minute, 10, 0},
		{"limited", 24 * time.Hour, 5, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.Between(from, from.Add(tt.span), tt.limit); len(got) != tt.want {
				t.Fatalf("Between = %v", got)
			}
		})
	}
}

func TestScheduleString(t *testing.T) {
	s, err := Parse(" 0  8 * *  mon ", nil)
	if err != nil || s.String() != "0 8 * * mon" {
		t.Fatalf("String = %q, %v", s, err)
	}
}
