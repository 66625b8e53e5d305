package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// build makes the test program of p; the text says why there is none, and is empty when there is one.
func (d *driver) build(p *program, number int) string {
	folder := d.folder(p)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "there is no such folder"
	}
	binary := filepath.Join(d.bin, fmt.Sprint(number), filepath.Base(folder)+".test")
	check(os.MkdirAll(filepath.Dir(binary), 0o755))
	command := exec.Command(filepath.Join(d.goroot, "bin", "go"),
		"test", "-c", "-vet=off", "-overlay="+d.overlay, "-o", binary, ".")
	command.Dir = folder
	command.Env = append(d.variables(), "PWD="+folder)
	said, err := command.CombinedOutput()
	if err != nil {
		return shortened(string(said)) + err.Error()
	}
	if !exists(binary) {
		return "no test files"
	}
	p.binary, p.digest = binary, digestOf(binary)
	return ""
}

// digestOf is what a program is known by: it must start as it was built, whatever ran in between.
func digestOf(path string) [32]byte {
	data, err := os.ReadFile(path)
	if err != nil {
		return [32]byte{}
	}
	return sha256.Sum256(data)
}

// named gives the launches of p. Where test files are named, the pattern is that of the tests in them.
func (d *driver) named(p *program) []launch {
	if len(p.Files) == 0 || len(p.Runs) == 0 {
		return p.Runs
	}
	quoted := []string{}
	for _, file := range p.Files {
		names, err := testsIn(filepath.Join(d.folder(p), file))
		if err != nil {
			d.send("unreadable", record{"id": pathOf(p.Dir, file), "message": err.Error()})
		}
		for _, name := range names {
			quoted = append(quoted, regexp.QuoteMeta(name))
		}
	}
	if len(quoted) == 0 {
		return nil
	}
	one := p.Runs[0]
	one.Pattern = "^(?:" + strings.Join(quoted, "|") + ")$"
	return []launch{one}
}

// testsIn lists the tests, examples and fuzz targets that a test file declares, in order.
func testsIn(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if ok && function.Recv == nil && isTest(function.Name.Name) {
			names = append(names, function.Name.Name)
		}
	}
	return names, nil
}

// isTest follows the go command: after the prefix comes nothing, or no lower-case letter.
func isTest(name string) bool {
	for _, prefix := range []string{"Test", "Example", "Fuzz"} {
		if rest, found := strings.CutPrefix(name, prefix); found && name != "TestMain" {
			first, _ := utf8.DecodeRuneInString(rest)
			return rest == "" || !unicode.IsLower(first)
		}
	}
	return false
}

func pathOf(dir, file string) string {
	if dir == "." {
		return file
	}
	return dir + "/" + file
}
