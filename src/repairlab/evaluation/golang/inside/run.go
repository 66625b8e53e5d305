package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	killed       = 128 + int(syscall.SIGKILL)
	drainTime    = 2 * time.Second
	shownOutput  = 20000
	couldNotRun  = 126
	afterOneself = "it was changed after it was built"
)

// run starts the program of p once, relays its report and gives its status as a shell does.
func (d *driver) run(p *program, one launch) int {
	if digestOf(p.binary) != p.digest {
		d.ended(one, couldNotRun, afterOneself, 0)
		return couldNotRun
	}
	report, reportIn := pipe()
	output, outputIn := pipe()
	keyOut, key := pipe()
	secret := decodeKey(one.Key)
	_, err := key.Write(secret[:])
	check(err)
	check(key.Close())
	command := exec.Command(p.binary, "-test.paniconexit0", "-test.timeout=0",
		fmt.Sprintf("-test.parallel=%d", d.parallel), "-test.run="+one.Pattern)
	command.Dir = d.folder(p)
	command.Env = append(d.variables(), "PWD="+command.Dir, "REPAIRLAB_CHANNEL=1")
	command.Stdout, command.Stderr = outputIn, outputIn
	command.ExtraFiles = []*os.File{reportIn, keyOut}
	command.SysProcAttr = ownGroup()
	err = command.Start()
	for _, file := range []*os.File{reportIn, outputIn, keyOut} {
		check(file.Close())
	}
	if err != nil {
		d.ended(one, couldNotRun, err.Error(), 0)
		return couldNotRun
	}
	said, heard := newKept(), make(chan struct{}, 2)
	go listen(output, func(data []byte) { os.Stdout.Write(data); said.add(data) }, heard)
	go listen(report, func(data []byte) { d.send("chunk", record{"run": one.Run, "data": data}) }, heard)
	status := statusOf(command.Wait())
	left := endRest(command.Process.Pid)
	for _, file := range []*os.File{report, output} {
		file.SetReadDeadline(time.Now().Add(drainTime)) // what escaped may hold them open
	}
	<-heard
	<-heard
	report.Close()
	output.Close()
	d.ended(one, status, said.text(), left)
	return status
}

func (d *driver) ended(one launch, status int, said string, left int) {
	d.send("ended", record{"run": one.Run, "status": status, "output": said, "leftovers": left})
}

func pipe() (*os.File, *os.File) {
	out, in, err := os.Pipe()
	check(err)
	return out, in
}

func listen(from *os.File, take func([]byte), heard chan<- struct{}) {
	buffer := make([]byte, 1<<16)
	for {
		count, err := from.Read(buffer)
		take(buffer[:count])
		if err != nil {
			heard <- struct{}{}
			return
		}
	}
}

func statusOf(err error) int {
	if err == nil {
		return 0
	}
	ended, ok := err.(*exec.ExitError)
	if !ok {
		check(err)
	}
	status := ended.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// kept is the beginning and the end of what a program printed.
type kept struct {
	head, tail []byte
	dropped    int
}

func newKept() *kept { return &kept{} }

func (k *kept) add(data []byte) {
	room := min(shownOutput/2-len(k.head), len(data))
	k.head = append(k.head, data[:room]...)
	k.tail = append(k.tail, data[room:]...)
	if surplus := len(k.tail) - shownOutput/2; surplus > 0 {
		k.tail = append([]byte(nil), k.tail[surplus:]...)
		k.dropped += surplus
	}
}

func (k *kept) text() string {
	if k.dropped == 0 {
		return string(k.head) + string(k.tail)
	}
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", k.head, k.dropped, k.tail)
}

func shortened(text string) string {
	short := newKept()
	io.WriteString(writer(short.add), text)
	return short.text()
}

type writer func([]byte)

func (w writer) Write(data []byte) (int, error) {
	w(data)
	return len(data), nil
}
