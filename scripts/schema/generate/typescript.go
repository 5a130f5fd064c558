package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

const header = "// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate\n"

var scalars = map[string]string{
	"string": "string", "bool": "boolean", "int32": "number", "int64": "number", "float64": "number",
	"bytes": "string", "time": "string", "microtime": "string", "duration": "string", "quantity": "string",
	"intOrString": "number | string", "rawExtension": "unknown", "fieldsV1": "Record<string, unknown>", "json": "unknown",
	"schemaOrBool": "JSONSchemaProps | boolean", "schemaOrArray": "JSONSchemaProps | JSONSchemaProps[]",
	"schemaOrStringArray": "JSONSchemaProps | string[]",
}

func moduleFile(id string) string { return strings.ReplaceAll(id, "/", "-") }

func writeTypes(u *universe, pkgs []*pkg) error {
	byPackage := map[string][]*structType{}
	for _, s := range u.structs {
		id, _, _ := strings.Cut(s.id, ".")
		byPackage[id] = append(byPackage[id], s)
	}
	for _, p := range pkgs {
		types := byPackage[p.id]
		sort.Slice(types, func(i, j int) bool { return types[i].id < types[j].id })
		path := filepath.Join(typesDir, moduleFile(p.id)+".ts")
		if err := os.WriteFile(path, typesModule(p, types), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func typesModule(p *pkg, types []*structType) []byte {
	imports := map[string]map[string]bool{}
	var body bytes.Buffer
	for _, s := range types {
		writeInterface(&body, p, s, imports)
	}
	var out bytes.Buffer
	out.WriteString(header)
	for _, from := range sortedKeys(imports) {
		fmt.Fprintf(&out, "import type { %s } from './%s.ts';\n", strings.Join(sortedKeys(imports[from]), ", "), moduleFile(from))
	}
	out.Write(body.Bytes())
	return out.Bytes()
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func writeInterface(out *bytes.Buffer, p *pkg, s *structType, imports map[string]map[string]bool) {
	_, name, _ := strings.Cut(s.id, ".")
	var bases []string
	for _, f := range s.fields {
		if f.inline {
			bases = append(bases, tsType(p, f.ref, imports))
		}
	}
	extends := ""
	if len(bases) > 0 {
		extends = " extends " + strings.Join(bases, ", ")
	}
	if len(s.fields) == 0 && !s.typeMeta {
		fmt.Fprintf(out, "\nexport type %s = Record<string, never>;\n", name)
		return
	}
	fmt.Fprintf(out, "\nexport interface %s%s {\n", name, extends)
	if s.typeMeta {
		out.WriteString("  apiVersion?: string | undefined;\n  kind?: string | undefined;\n")
	}
	for _, f := range s.fields {
		if f.inline {
			continue
		}
		ts := tsType(p, f.ref, imports)
		key := f.name
		if strings.ContainsAny(key, "-$") {
			key = "'" + key + "'"
		}
		switch {
		case requiredInTypes(s, name, f):
			fmt.Fprintf(out, "  %s: %s;\n", key, ts)
		case ts == "unknown":
			fmt.Fprintf(out, "  %s?: unknown;\n", key)
		default:
			fmt.Fprintf(out, "  %s?: %s | undefined;\n", key, ts)
		}
	}
	out.WriteString("}\n")
}

// requiredInTypes says whether a property must be written by whoever builds the object in TypeScript.
// metadata of a kind always; spec and status never, because servers and tests handle half-made objects.
func requiredInTypes(s *structType, name string, f field) bool {
	switch {
	case s.typeMeta && f.name == "metadata":
		return !strings.HasSuffix(name, "Review")
	case strings.Contains(f.ref, ".") && (f.name == "metadata" || f.name == "spec" || f.name == "status"):
		return false
	}
	return f.required && !f.pointer && !f.omitempty
}

func tsType(p *pkg, ref string, imports map[string]map[string]bool) string {
	if inner, ok := strings.CutPrefix(ref, "[]"); ok {
		return arrayOf(tsType(p, inner, imports))
	}
	if inner, ok := strings.CutPrefix(ref, "<>"); ok {
		return arrayOf(tsType(p, inner, imports))
	}
	if inner, ok := strings.CutPrefix(ref, "{}"); ok {
		return "Record<string, " + tsType(p, inner, imports) + ">"
	}
	if scalar, ok := scalars[ref]; ok {
		return scalar
	}
	from, name, _ := strings.Cut(ref, ".")
	if from != p.id {
		if imports[from] == nil {
			imports[from] = map[string]bool{}
		}
		imports[from][name] = true
	}
	return name
}

func arrayOf(inner string) string {
	if strings.Contains(inner, "|") {
		return "(" + inner + ")[]"
	}
	return inner + "[]"
}
