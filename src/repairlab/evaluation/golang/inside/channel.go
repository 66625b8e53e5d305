package testing

import (
	"encoding/hex"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	_ "unsafe" // for linkname
)

const (
	repairlabReport  = 3
	repairlabMessage = 20000
)

//go:linkname repairlabTake
func repairlabTake() (key [32]byte, here bool)

// repairlabChannel tells what becomes of each test, in authenticated records. A nil channel says nothing: that
// is every program that the driver did not start itself.
type repairlabChannel struct {
	mu      sync.Mutex
	send    func([]byte) error
	count   int
	started bool
}

var repairlab = repairlabOpen()

func repairlabOpen() *repairlabChannel {
	key, here := repairlabTake()
	if !here {
		return nil
	}
	syscall.CloseOnExec(repairlabReport)
	return &repairlabChannel{send: newFrames(repairlabReport, key)}
}

// record sends one record. Values are text and go as hexadecimal digits: names and messages may hold anything.
func (r *repairlabChannel) record(kind string, fields ...string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.send == nil {
		return
	}
	text := `{"n":` + strconv.Itoa(r.count) + `,"kind":"` + kind + `"`
	for i := 0; i < len(fields); i += 2 {
		text += `,"` + fields[i] + `":"` + hex.EncodeToString([]byte(fields[i+1])) + `"`
	}
	r.count++
	if r.send([]byte(text+"}")) != nil {
		r.send = nil
	}
}

// spoil ends the channel: somebody uses this package to report tests that the program does not have.
func (r *repairlabChannel) spoil(what string) {
	if r == nil {
		return
	}
	r.record("spoiled", "what", what)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send = nil
}

// repairlabStart is called by MainStart. The generated main function is the one caller, once.
func repairlabStart() {
	if repairlab == nil {
		return
	}
	var callers [1]uintptr
	caller := "nobody"
	if runtime.Callers(3, callers[:]) == 1 { // 0 is Callers, 1 this function, 2 MainStart
		frame, _ := runtime.CallersFrames(callers[:]).Next()
		caller = frame.Function
	}
	if caller != "main.main" || repairlab.started {
		repairlab.spoil("testing.MainStart is called by " + caller)
		return
	}
	repairlab.started = true
	repairlab.record("hello", "go", runtime.Version())
}

// repairlabForeign is called by exported functions that run tests that are given to them.
func repairlabForeign(function string) {
	repairlab.spoil("testing." + function + " is called")
}

func repairlabBegin(name string) {
	repairlab.record("begin", "id", name)
}

func repairlabEnd(name string, c *common) {
	if repairlab == nil {
		return
	}
	switch {
	case c.Failed():
		c.mu.RLock()
		message := string(c.output)
		c.mu.RUnlock()
		repairlab.record("end", "id", name, "outcome", "failed", "message", repairlabShort(message))
	case c.Skipped():
		repairlab.record("end", "id", name, "outcome", "skipped", "message", "")
	default:
		repairlab.record("end", "id", name, "outcome", "passed", "message", "")
	}
}

func repairlabShort(text string) string {
	if len(text) <= repairlabMessage {
		return text
	}
	half := repairlabMessage / 2
	left := strconv.Itoa(len(text) - 2*half)
	return text[:half] + "\n[... " + left + " bytes left out ...]\n" + text[len(text)-half:]
}

func repairlabExample(eg InternalExample) bool {
	repairlabBegin(eg.Name)
	ok := runExample(eg)
	outcome := "passed"
	if !ok {
		outcome = "failed"
	}
	repairlab.record("end", "id", eg.Name, "outcome", outcome, "message", "")
	return ok
}

// repairlabRan is called when M.Run returns.
func repairlabRan(m *M, code int) {
	if m.deps == nil {
		repairlab.spoil("testing.M.Run is called on an M of somebody's own")
		return
	}
	repairlab.record("ran", "code", strconv.Itoa(code))
}
