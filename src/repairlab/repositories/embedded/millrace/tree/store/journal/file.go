package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// readLines calls use for each whole line of the file and returns the length
// of the part that holds whole lines. What stands after the last line break
// was being written when the process ended; it is no line. A file that does
// not exist has no lines.
func readLines(path string, use func(line string) error) (int64, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var whole int64
	reader := bufio.NewReader(f)
	for number := 1; ; number++ {
		line, err := reader.ReadString('\n')
		if err == io.EOF {
			return whole, nil
		}
		if err != nil {
			return whole, err
		}
		if err := use(line[:len(line)-1]); err != nil {
			return whole, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		whole += int64(len(line))
	}
}

// openAppend opens the file for writing at its end, after cutting it to size.
func openAppend(path string, size int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(size, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// replaceFile writes lines to a new file and puts it in the place of path. A
// crash leaves either the old file or the new one.
func replaceFile(path string, lines []string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriter(f)
	for _, line := range lines {
		w.WriteString(line)
		w.WriteByte('\n')
	}
	if err := errors.Join(w.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
