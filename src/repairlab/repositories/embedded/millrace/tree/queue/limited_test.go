package queue

import (
	"errors"
	"testing"
	"time"

	"example.org/millrace/limit"
	"example.org/millrace/store"
)

func limiter(t *testing.T, rate string, burst int) limit.Limiter {
	t.Helper()
	r, err := limit.ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	b, err := limit.NewBucket(r, burst)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestClaimLimited(t *testing.T) {
	q, manual := newQueue(t, WithLimiter(limiter(t, "1/s", 2)))
	for range 4 {
		enqueue(t, q)
	}
	claim(t, q)
	claim(t, q)
	_, err := q.Claim(ctx)
	var limited *ErrLimited
	if !errors.As(err, &limited) || limited.Wait != time.Second {
		t.Fatalf("error = %v, want one that says to wait a second", err)
	}
	manual.Advance(limited.Wait)
	claim(t, q)
	if _, err := q.Claim(ctx); !errors.As(err, &limited) {
		t.Fatalf("error = %v, want ErrLimited", err)
	}
}

func TestEmptyQueueSpendsNothing(t *testing.T) {
	q, _ := newQueue(t, WithLimiter(limiter(t, "1/h", 1)))
	for range 5 {
		if _, err := q.Claim(ctx); !errors.Is(err, store.ErrEmpty) {
			t.Fatalf("error = %v, want ErrEmpty", err)
		}
	}
	enqueue(t, q)
	claim(t, q)
}
