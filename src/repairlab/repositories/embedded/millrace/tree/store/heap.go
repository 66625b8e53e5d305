package store

import (
	"container/heap"
	"time"

	"example.org/millrace/job"
)

// line is the queue of the pending jobs of one queue name. Jobs that are not
// due yet wait in later, by the time at which they are; the others stand in
// ready, by priority.
type line struct {
	ready readyHeap
	later laterHeap
}

type lineItem struct {
	id       job.ID
	priority int
	runAt    time.Time
}

func (l *line) push(j *job.Job) {
	heap.Push(&l.later, lineItem{id: j.ID, priority: j.Priority, runAt: j.RunAt})
}

// peek returns the job to hand out at now. The clock of the caller may step
// back, so an item that was ready once may have to wait again.
func (l *line) peek(now time.Time) (job.ID, bool) {
	for len(l.later) > 0 && !l.later[0].runAt.After(now) {
		heap.Push(&l.ready, heap.Pop(&l.later))
	}
	for len(l.ready) > 0 && l.ready[0].runAt.After(now) {
		heap.Push(&l.later, heap.Pop(&l.ready))
	}
	if len(l.ready) == 0 {
		return "", false
	}
	return l.ready[0].id, true
}

// drop removes the job that peek returned.
func (l *line) drop() {
	heap.Pop(&l.ready)
}

// remove takes a job out, wherever it stands.
func (l *line) remove(id job.ID) {
	for i, item := range l.ready {
		if item.id == id {
			heap.Remove(&l.ready, i)
			return
		}
	}
	for i, item := range l.later {
		if item.id == id {
			heap.Remove(&l.later, i)
			return
		}
	}
}

type readyHeap []lineItem

func (h readyHeap) Len() int      { return len(h) }
func (h readyHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h readyHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	if c := a.runAt.Compare(b.runAt); c != 0 {
		return c < 0
	}
	return a.id < b.id
}

func (h *readyHeap) Push(x any) { *h = append(*h, x.(lineItem)) }

func (h *readyHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

type laterHeap []lineItem

func (h laterHeap) Len() int      { return len(h) }
func (h laterHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h laterHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	if c := a.runAt.Compare(b.runAt); c != 0 {
		return c < 0
	}
	return a.id < b.id
}

func (h *laterHeap) Push(x any) { *h = append(*h, x.(lineItem)) }

func (h *laterHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
