// The driver builds the test programs of a checkout, runs them one after the other and relays what they report.
//
// It is started as `driver ENVIRONMENT CHECKOUT DESCRIPTOR`. The configuration with all keys comes over standard
// input, which is read to its end. No tested code has run at that time, and none runs until every program is
// built. A program's key goes to that program alone, through a pipe. The driver itself cannot be read or traced
// by tested code (Linux), holds the only way to the harness, and ends what a test program leaves behind.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

type config struct {
	Key      string     `json:"key"`
	Warm     bool       `json:"warm"`
	Parallel int        `json:"parallel"`
	Packages []*program `json:"packages"`
}

// program is one package with its test program.
type program struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"` // run the tests of these files; empty: what the runs' patterns say
	Runs  []launch `json:"runs"`

	binary string
	digest [32]byte
}

// launch is one start of a test program.
type launch struct {
	Run     int    `json:"run"`
	Key     string `json:"key"`
	Pattern string `json:"pattern"`
}

type record map[string]any

// driver holds the places of one run and the way to the harness.
type driver struct {
	places
	parallel int
	send     func(kind string, fields record)
}

func main() {
	runtime.LockOSThread() // test programs are to die with the thread that started them
	environment, checkout := os.Args[1], os.Args[2]
	descriptor, err := strconv.Atoi(os.Args[3])
	check(err)
	harden()
	syscall.CloseOnExec(descriptor)
	_, err = syscall.Write(descriptor, []byte("R"))
	check(err)
	text, err := io.ReadAll(os.Stdin)
	check(err)
	var wanted config
	check(json.Unmarshal(text, &wanted))
	d := &driver{newPlaces(environment, checkout), wanted.Parallel, sender(descriptor, decodeKey(wanted.Key))}
	d.send("hello", record{"go": runtime.Version()})
	os.Exit(d.drive(wanted))
}

func (d *driver) drive(wanted config) int {
	check(d.prepare())
	built := 0
	for number, p := range wanted.Packages {
		if said := d.build(p, number); said != "" {
			d.send("unreadable", record{"id": p.Dir, "message": said})
			p.Runs = nil
			continue
		}
		built++
	}
	status, runs := 0, 0
	if wanted.Warm {
		check(d.sendCache())
	}
	for _, p := range wanted.Packages {
		for _, one := range d.named(p) {
			if d.run(p, one) == killed {
				status = killed
			}
			runs++
		}
	}
	d.send("final", record{"exit": status, "built": built, "runs": runs})
	return status
}

func sender(descriptor int, key [32]byte) func(string, record) {
	write := newFrames(descriptor, key)
	number := 0
	return func(kind string, fields record) {
		fields["kind"], fields["n"] = kind, number
		number++
		text, err := json.Marshal(fields)
		check(err)
		check(write(text))
	}
}

func decodeKey(text string) (key [32]byte) {
	data, err := hex.DecodeString(text)
	check(err)
	if copy(key[:], data) != len(key) {
		check(fmt.Errorf("a key is too short"))
	}
	return key
}

// check ends the driver without a final record, which is what the harness looks for.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(70)
	}
}

func (d *driver) folder(p *program) string {
	return filepath.Join(d.checkout, filepath.FromSlash(p.Dir))
}
