package main

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// places are the folders of one run. The environment is never written to.
type places struct {
	environment string
	checkout    string
	goroot      string
	cache       string // this run's own layer of the build cache
	overlay     string // JSON file: which sources of the standard library are replaced
	bin         string // where test programs are put
}

func newPlaces(environment, checkout string) places {
	scratch := filepath.Join(os.TempDir(), "repairlab")
	return places{
		environment: environment,
		checkout:    checkout,
		goroot:      filepath.Join(environment, "go"),
		cache:       filepath.Join(scratch, "cache"),
		overlay:     filepath.Join(scratch, "overlay.json"),
		bin:         filepath.Join(scratch, "bin"),
	}
}

// prepare makes the writable places: a build cache whose entries are links to the warm one below, so that what
// this run builds stays in this run, and the overlay.
func (p places) prepare() error {
	if err := os.MkdirAll(p.cache, 0o755); err != nil {
		return err
	}
	if err := p.writeOverlay(); err != nil {
		return err
	}
	for _, below := range []string{"kit/cache", "cache"} {
		if err := p.layOn(filepath.Join(p.environment, below)); err != nil {
			return err
		}
	}
	return nil
}

func (p places) layOn(below string) error {
	return walk(below, func(name, path string, _ fs.DirEntry) error {
		target := filepath.Join(p.cache, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if exists(target) {
			return nil
		}
		return os.Symlink(path, target)
	})
}

func (p places) writeOverlay() error {
	replaced := map[string]string{}
	err := walk(filepath.Join(p.environment, "kit", "overlay"), func(name, path string, _ fs.DirEntry) error {
		replaced[filepath.Join(p.goroot, "src", name)] = path
		return nil
	})
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return err
	}
	return os.WriteFile(p.overlay, text, 0o644)
}

// variables is the environment of the go command and of test programs: the harness's few, and where things are.
func (p places) variables() []string {
	fixed := map[string]string{
		"PATH":        filepath.Join(p.goroot, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GOROOT":      p.goroot,
		"GOCACHE":     p.cache,
		"GOMODCACHE":  filepath.Join(p.environment, "mod"),
		"GOPATH":      filepath.Join(os.Getenv("HOME"), "go"),
		"GOENV":       "off",
		"GOFLAGS":     "-buildvcs=false",
		"GO111MODULE": "on",
		"GOWORK":      "off",
		"GOPROXY":     "off",
		"GOSUMDB":     "off",
		"GOTOOLCHAIN": "local",
		"CGO_ENABLED": "0",
	}
	if work := filepath.Join(p.checkout, "go.work"); exists(work) {
		fixed["GOWORK"] = work
	}
	found := []string{}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); fixed[name] == "" {
			found = append(found, entry)
		}
	}
	for name, value := range fixed {
		found = append(found, name+"="+value)
	}
	sort.Strings(found)
	return found
}

// sendCache sends every entry of this run's cache that was built here.
func (d *driver) sendCache() error {
	return walk(d.cache, func(name, path string, entry fs.DirEntry) error {
		if !entry.Type().IsRegular() || !strings.Contains(name, string(filepath.Separator)) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		writer, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
		if err != nil {
			return err
		}
		if _, err := writer.Write(data); err != nil {
			return err
		}
		if err := writer.Close(); err != nil {
			return err
		}
		d.send("entry", record{"path": filepath.ToSlash(name), "data": packed.Bytes()})
		return nil
	})
}

// walk visits what is no folder below root, by name; nothing when there is no root.
func walk(root string, visit func(name, path string, entry fs.DirEntry) error) error {
	if !exists(root) {
		return nil
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return visit(name, path, entry)
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
