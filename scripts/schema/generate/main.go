// Command generate reads the Go types of the Kubernetes API and writes the facts our server needs:
// src/api/schema/data/kubernetes.json and the TypeScript types under src/api/generated.
// Run it from scripts/schema: go run ./generate
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	dataFile   = "../../src/api/schema/data/kubernetes.json"
	typesDir   = "../../src/api/generated"
	overlayDir = "overlay"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	u := &universe{byPath: map[string]*pkg{}, structs: map[string]*structType{}}
	var pkgs []*pkg
	for _, s := range sources() {
		root, err := moduleDir(s)
		if err != nil {
			return err
		}
		dirs := []string{filepath.Join(root, s.dir)}
		if extra := filepath.Join(overlayDir, s.id); exists(extra) {
			dirs = append(dirs, extra)
		}
		p, err := parsePackage(s, dirs...)
		if err != nil {
			return err
		}
		u.byPath[p.importPath()] = p
		pkgs = append(pkgs, p)
	}
	for _, p := range pkgs {
		if p.id == "meta/v1" {
			p.kinds = append(p.kinds, optionKinds...)
		}
		for _, kind := range p.kinds {
			if err := u.addStruct(p, kind); err != nil {
				return err
			}
		}
	}
	if err := writeData(u, pkgs); err != nil {
		return err
	}
	return writeTypes(u, pkgs)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func moduleDir(s source) (string, error) {
	module := s.module
	if s.version != "" {
		module += "@" + s.version
	}
	args := []string{"mod", "download", "-json", module}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	var answer struct{ Dir string }
	if err := json.Unmarshal(out, &answer); err != nil {
		return "", err
	}
	return answer.Dir, nil
}
