package main

import (
	"bytes"
	"encoding/json"
	"os"
	"sort"
)

// writeData prints one type per line, so that a regenerated file diffs well.
// A field is [name, reference, protobuf number, flags, extras?]; flags: p pointer, o omitempty, r required, i inline.
func writeData(u *universe, pkgs []*pkg) error {
	packages := map[string][]string{}
	kinds := map[string]string{}
	for _, p := range pkgs {
		packages[p.id] = []string{p.group, p.apiVer, p.openapi}
		for _, kind := range p.kinds {
			group, version := p.group, p.apiVer
			if p.id == "meta/v1" && kind != "Table" && kind != "TableOptions" && kind != "PartialObjectMetadata" && kind != "PartialObjectMetadataList" {
				group, version = "", "v1"
			}
			key := version + "/" + kind
			if group != "" {
				key = group + "/" + key
			}
			kinds[key] = p.id + "." + kind
		}
	}
	var out bytes.Buffer
	out.WriteString("{\n\"packages\":")
	out.Write(compact(packages))
	out.WriteString(",\n\"optionKinds\":")
	out.Write(compact(optionKinds))
	out.WriteString(",\n\"kinds\":")
	out.Write(compact(kinds))
	out.WriteString(",\n\"types\":{")
	ids := make([]string, 0, len(u.structs))
	for id := range u.structs {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for i, id := range ids {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n")
		out.Write(compact(id))
		out.WriteString(":")
		out.Write(compact(typeRow(u.structs[id])))
	}
	out.WriteString("\n}}\n")
	return os.WriteFile(dataFile, out.Bytes(), 0o644)
}

func typeRow(s *structType) []any {
	flags := ""
	if s.typeMeta {
		flags += "t"
	}
	if s.atomic {
		flags += "a"
	}
	row := []any{flags}
	for _, f := range s.fields {
		flags := ""
		for _, flag := range []struct {
			set  bool
			char string
		}{{f.pointer, "p"}, {f.omitempty, "o"}, {f.required, "r"}, {f.inline, "i"}} {
			if flag.set {
				flags += flag.char
			}
		}
		entry := []any{f.name, f.ref, f.number, flags}
		if len(f.extra) > 0 {
			entry = append(entry, f.extra)
		}
		row = append(row, entry)
	}
	return row
}

func compact(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(out.Bytes())
}
