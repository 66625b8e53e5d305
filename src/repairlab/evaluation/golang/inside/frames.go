package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"syscall"
)

// newFrames returns a function that writes one record to descriptor: its length, an authentication code, the
// payload. The key changes after each record by a one-way step, so that a record that has been written can be
// neither repeated nor replaced, not even by who gets hold of a later key. One caller at a time.
func newFrames(descriptor int, key [32]byte) func(payload []byte) error {
	return func(payload []byte) error {
		code := hmac.New(sha256.New, key[:])
		code.Write(payload)
		frame := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
		frame = append(code.Sum(frame), payload...)
		key = sha256.Sum256(append([]byte("next"), key[:]...))
		for len(frame) > 0 {
			count, err := syscall.Write(descriptor, frame)
			if err == syscall.EINTR || err == syscall.EAGAIN {
				continue
			}
			if err != nil {
				return err
			}
			frame = frame[count:]
		}
		return nil
	}
}
