package limit

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Keyed holds one limiter for each key, for example for each tenant. Limiters
// are made when a key is first seen and dropped when it was idle for long.
type Keyed struct {
	mu      sync.Mutex
	make    func() Limiter
	idle    time.Duration
	entries map[string]*keyedEntry
}

type keyedEntry struct {
	limiter Limiter
	seen    time.Time
}

// NewKeyed returns a set without keys. Limiters come from make; one that was
// not asked for the time of idle may be dropped by Sweep. The idle time has to
// be long enough for a limiter to recover fully, or dropping it would admit
// work too early.
func NewKeyed(make func() Limiter, idle time.Duration) *Keyed {
	return &Keyed{make: make, idle: idle, entries: map[string]*keyedEntry{}}
}

// Allow asks the limiter of key.
func (k *Keyed) Allow(key string, now time.Time) bool {
	return k.get(key, now).Allow(now)
}

// Next asks the limiter of key.
func (k *Keyed) Next(key string, now time.Time) time.Duration {
	return k.get(key, now).Next(now)
}

func (k *Keyed) get(key string, now time.Time) Limiter {
	k.mu.Lock()
	defer k.mu.Unlock()
	entry := k.entries[key]
	if entry == nil {
		entry = &keyedEntry{limiter: k.make()}
		k.entries[key] = entry
	}
	if now.After(entry.seen) {
		entry.seen = now
	}
	return entry.limiter
}

// Sweep drops the limiters that were idle and returns how many it dropped.
func (k *Keyed) Sweep(now time.Time) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	dropped := 0
	for key, entry := range k.entries {
		if now.Sub(entry.seen) >= k.idle {
			delete(k.entries, key)
			dropped++
		}
	}
	return dropped
}

// Keys lists the keys that have a limiter, the most recently used first.
func (k *Keyed) Keys() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := make([]string, 0, len(k.entries))
	for key := range k.entries {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if c := k.entries[b].seen.Compare(k.entries[a].seen); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return keys
}
