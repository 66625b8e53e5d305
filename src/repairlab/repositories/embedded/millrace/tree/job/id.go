package job

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// ID names a job. IDs made by one Generator sort in the order of their making.
type ID string

// The alphabet leaves out letters that are easily misread.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const (
	stampDigits = 10 // milliseconds since 1970, 50 bits
	countDigits = 4  // position within the millisecond, 20 bits
	idLength    = stampDigits + countDigits
)

// Generator makes ids. The zero value is ready to use.
type Generator struct {
	mu    sync.Mutex
	stamp int64
	count int64
}

// Next returns a new id for a job made at now. A clock that steps back does
// not make ids step back: the generator goes on from the latest instant seen.
func (g *Generator) Next(now time.Time) ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	ms := now.UnixMilli()
	if ms > g.stamp {
		g.stamp, g.count = ms, 0
	} else {
		g.count++
	}
	if g.count >= 1<<(5*countDigits) {
		g.stamp, g.count = g.stamp+1, 0
	}
	var b strings.Builder
	b.Grow(idLength)
	digits(&b, g.stamp, stampDigits)
	digits(&b, g.count, countDigits)
	return ID(b.String())
}

// Time is the millisecond in which the id was made.
func (id ID) Time() time.Time {
	var stamp int64
	for i := 0; i < stampDigits && i < len(id); i++ {
		stamp = stamp<<5 | int64(strings.IndexByte(alphabet, id[i]))
	}
	return time.UnixMilli(stamp).UTC()
}

// ParseID checks that text has the form of an id.
func ParseID(text string) (ID, error) {
	if len(text) != idLength {
		return "", fmt.Errorf("job: id %q has %d characters, want %d", text, len(text), idLength)
	}
	for i := 0; i < len(text); i++ {
		if strings.IndexByte(alphabet, text[i]) < 0 {
			return "", fmt.Errorf("job: id %q has %q at position %d", text, text[i], i+1)
		}
	}
	return ID(text), nil
}

func digits(b *strings.Builder, value int64, n int) {
	for shift := 5 * (n - 1); shift >= 0; shift -= 5 {
		b.WriteByte(alphabet[value>>shift&31])
	}
}
