//go:build !linux

package main

import "syscall"

func harden() {}

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// endRest ends the process group of a test program. What left that group is not found on this system.
func endRest(leader int) int {
	syscall.Kill(-leader, syscall.SIGKILL)
	return 0
}
