package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	setDumpable       = 4
	setChildSubreaper = 36
	rounds            = 200
	pause             = 5 * time.Millisecond
)

// harden keeps other processes of the same user from this one's memory and descriptors, and has the children of
// a test program that ended come to this process.
func harden() {
	for _, option := range [][2]uintptr{{setDumpable, 0}, {setChildSubreaper, 1}} {
		if _, _, code := syscall.RawSyscall(syscall.SYS_PRCTL, option[0], option[1], 0); code != 0 {
			check(code)
		}
	}
}

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// endRest ends every process that a test program left behind, daemons included, and counts them.
func endRest(int) int {
	count := 0
	for round := 0; round < rounds; round++ {
		found := children()
		if len(found) == 0 {
			return count
		}
		for _, pid := range found {
			syscall.Kill(pid, syscall.SIGKILL)
			if ended, _ := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); ended == pid {
				count++
			}
		}
		time.Sleep(pause)
	}
	return count
}

func children() []int {
	tasks, err := os.ReadDir("/proc/self/task")
	check(err)
	found := []int{}
	for _, task := range tasks {
		text, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			check(err)
			found = append(found, pid)
		}
	}
	return found
}
