package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

type field struct {
	name      string
	ref       string
	number    int
	pointer   bool
	omitempty bool
	required  bool
	inline    bool
	extra     map[string]any
}

type structType struct {
	id       string
	typeMeta bool
	atomic   bool // +structType=atomic or +mapType=atomic on the type
	fields   []field
}

type named struct {
	expr    ast.Expr
	imports map[string]string
	doc     []string
	overlay bool // overlay types name things as we do, so renames do not apply to them
}

type pkg struct {
	source
	types map[string]*named
	enums map[string][]string
	kinds []string
}

type universe struct {
	byPath  map[string]*pkg
	structs map[string]*structType
}

// parsePackage reads the exported types, string constants and registered kinds of one folder.
func parsePackage(s source, dirs ...string) (*pkg, error) {
	p := &pkg{source: s, types: map[string]*named{}, enums: map[string][]string{}}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			name := entry.Name()
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_") || strings.HasSuffix(name, ".pb.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			p.readFile(file)
		}
	}
	for _, values := range p.enums {
		sort.Strings(values)
	}
	return p, nil
}

func (p *pkg) typeName(goName string) string {
	if renamed, ok := p.rename[goName]; ok {
		return renamed
	}
	return goName
}

func (p *pkg) readFile(file *ast.File) {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		local := filepath.Base(path)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		imports[local] = path
	}
	overlay := strings.HasSuffix(file.Name.Name, "overlay")
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok {
			p.readKinds(decl)
			continue
		}
		for _, spec := range gen.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				p.readType(spec, gen, imports, overlay)
			case *ast.ValueSpec:
				p.readConst(spec)
			}
		}
	}
}

func (p *pkg) readType(spec *ast.TypeSpec, gen *ast.GenDecl, imports map[string]string, overlay bool) {
	doc := markers(spec.Doc)
	if gen.Doc != nil {
		doc = append(doc, markers(gen.Doc)...)
	}
	name := spec.Name.Name
	if !overlay {
		name = p.typeName(name)
	}
	if added, ok := spec.Type.(*ast.StructType); ok && overlay && p.types[name] != nil {
		base := p.types[name].expr.(*ast.StructType)
		mergeFields(base, added)
		for local, path := range imports {
			p.types[name].imports[local] = path
		}
		return
	}
	if overlay && hasMarker(doc, "kind") {
		p.kinds = append(p.kinds, name)
	}
	p.types[name] = &named{expr: spec.Type, imports: imports, doc: doc, overlay: overlay}
}

// mergeFields adds the fields of an overlay; one with a Go name that exists already replaces it.
func mergeFields(base, added *ast.StructType) {
	replaced := map[string]bool{}
	for _, f := range added.Fields.List {
		replaced[f.Names[0].Name] = true
	}
	var kept []*ast.Field
	for _, f := range base.Fields.List {
		if len(f.Names) == 0 || !replaced[f.Names[0].Name] {
			kept = append(kept, f)
		}
	}
	base.Fields.List = append(kept, added.Fields.List...)
}

func (p *pkg) readConst(spec *ast.ValueSpec) {
	ident, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Values) != 1 {
		return
	}
	if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
		value, _ := strconv.Unquote(lit.Value)
		p.enums[ident.Name] = append(p.enums[ident.Name], value)
	}
}

// readKinds collects the &Kind{} literals handed to scheme.AddKnownTypes.
func (p *pkg) readKinds(decl ast.Decl) {
	ast.Inspect(decl, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || (sel.Sel.Name != "AddKnownTypes" && sel.Sel.Name != "AddUnversionedTypes") {
			return true
		}
		for _, arg := range call.Args {
			if unary, ok := arg.(*ast.UnaryExpr); ok {
				if lit, ok := unary.X.(*ast.CompositeLit); ok {
					if ident, ok := lit.Type.(*ast.Ident); ok {
						p.kinds = append(p.kinds, ident.Name)
					}
				}
			}
		}
		return true
	})
}

// markers returns the "+name=value" lines of a comment, without the plus sign.
func markers(doc *ast.CommentGroup) []string {
	var out []string
	if doc == nil {
		return out
	}
	for _, comment := range doc.List {
		line := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
		if strings.HasPrefix(line, "+") {
			out = append(out, line[1:])
		}
	}
	return out
}

func hasMarker(doc []string, name string) bool {
	for _, line := range doc {
		if line == name || strings.HasPrefix(line, name+"=") {
			return true
		}
	}
	return false
}

func markerValues(doc []string, name string) []string {
	var out []string
	for _, line := range doc {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			out = append(out, value)
		}
	}
	return out
}

// ref turns a Go type expression into a reference of the data file and notes the structs it needs.
func (u *universe) ref(p *pkg, n *named, expr ast.Expr) (ref string, pointer bool, enum []string, err error) {
	switch t := expr.(type) {
	case *ast.StarExpr:
		ref, _, enum, err = u.ref(p, n, t.X)
		return ref, true, enum, err
	case *ast.ArrayType:
		if ident, ok := t.Elt.(*ast.Ident); ok && ident.Name == "byte" {
			return "bytes", false, nil, nil
		}
		inner, _, _, err := u.ref(p, n, t.Elt)
		return "[]" + inner, false, nil, err
	case *ast.MapType:
		inner, _, _, err := u.ref(p, n, t.Value)
		return "{}" + inner, false, nil, err
	case *ast.InterfaceType:
		return "json", false, nil, nil
	case *ast.Ident:
		switch t.Name {
		case "string", "bool", "int32", "int64", "float64":
			return t.Name, false, nil, nil
		case "int", "uint32", "uint64":
			return "int64", false, nil, nil
		}
		if n.overlay {
			return u.namedRef(p, t.Name, t.Name)
		}
		return u.namedRef(p, t.Name, p.typeName(t.Name))
	case *ast.SelectorExpr:
		path := n.imports[t.X.(*ast.Ident).Name]
		if scalar, ok := special[path+"."+t.Sel.Name]; ok {
			return scalar, false, nil, nil
		}
		other := u.byPath[path]
		if other == nil {
			return "", false, nil, fmt.Errorf("%s: unknown package %s for %s", p.id, path, t.Sel.Name)
		}
		return u.namedRef(other, t.Sel.Name, other.typeName(t.Sel.Name))
	}
	return "", false, nil, fmt.Errorf("%s: unsupported type %T", p.id, expr)
}

func (u *universe) namedRef(p *pkg, goName, name string) (string, bool, []string, error) {
	if scalar, ok := special[p.importPath()+"."+goName]; ok {
		return scalar, false, nil, nil
	}
	n := p.types[name]
	if n == nil {
		return "", false, nil, fmt.Errorf("%s: unknown type %s", p.id, name)
	}
	if _, ok := n.expr.(*ast.StructType); ok {
		return p.id + "." + name, false, nil, u.addStruct(p, name)
	}
	ref, pointer, enum, err := u.ref(p, n, n.expr)
	if hasMarker(n.doc, "enum") && ref == "string" {
		enum = p.enums[goName]
	}
	if hasMarker(n.doc, "protobuf.nullable") {
		ref = "<>" + strings.TrimPrefix(ref, "[]")
	}
	return ref, pointer, enum, err
}

func (u *universe) addStruct(p *pkg, name string) error {
	id := p.id + "." + name
	if u.structs[id] != nil {
		return nil
	}
	n := p.types[name]
	if n == nil {
		return fmt.Errorf("%s: unknown type %s", p.id, name)
	}
	s := &structType{id: id, atomic: hasMarker(n.doc, "structType=atomic") || hasMarker(n.doc, "mapType=atomic")}
	u.structs[id] = s
	if sel, ok := n.expr.(*ast.SelectorExpr); ok { // type List metav1.List
		p = u.byPath[n.imports[sel.X.(*ast.Ident).Name]]
		n = p.types[sel.Sel.Name]
	}
	for _, f := range n.expr.(*ast.StructType).Fields.List {
		if err := u.addField(p, n, s, f); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	return nil
}

func (u *universe) addField(p *pkg, n *named, s *structType, f *ast.Field) error {
	if f.Tag == nil {
		return nil
	}
	raw, _ := strconv.Unquote(f.Tag.Value)
	tag := reflect.StructTag(raw)
	jsonTag, ok := tag.Lookup("json")
	if !ok || jsonTag == "-" {
		return nil
	}
	parts := strings.Split(jsonTag, ",")
	out := field{name: parts[0], extra: map[string]any{}}
	for _, option := range parts[1:] {
		out.inline = out.inline || option == "inline"
		out.omitempty = out.omitempty || option == "omitempty" || option == "omitzero"
	}
	if proto := strings.Split(tag.Get("protobuf"), ","); len(proto) > 1 {
		number, err := strconv.Atoi(proto[1])
		if err != nil {
			return fmt.Errorf("field %s: %w", out.name, err)
		}
		out.number = number
	}
	out.inline = out.inline || (len(f.Names) == 0 && out.name == "")
	if out.inline && isTypeMeta(f.Type) {
		s.typeMeta = true
		return nil
	}
	ref, pointer, enum, err := u.ref(p, n, f.Type)
	if err != nil {
		return fmt.Errorf("field %s: %w", out.name, err)
	}
	out.ref, out.pointer = ref, pointer
	doc := markers(f.Doc)
	switch {
	case hasMarker(doc, "required"):
		out.required = true
	case hasMarker(doc, "optional"):
	default:
		out.required = !out.omitempty
	}
	if out.inline {
		out.required = false
	}
	readExtras(&out, tag, doc, enum)
	s.fields = append(s.fields, out)
	return nil
}

func isTypeMeta(expr ast.Expr) bool {
	switch t := expr.(type) {
	case *ast.SelectorExpr:
		return t.Sel.Name == "TypeMeta"
	case *ast.Ident:
		return t.Name == "TypeMeta"
	}
	return false
}

func readExtras(out *field, tag reflect.StructTag, doc, enum []string) {
	if value := tag.Get("patchStrategy"); value != "" {
		out.extra["ps"] = value
	}
	if value := tag.Get("patchMergeKey"); value != "" {
		out.extra["mk"] = value
	}
	if values := markerValues(doc, "listType"); len(values) > 0 {
		out.extra["lt"] = values[0]
	}
	if values := markerValues(doc, "listMapKey"); len(values) > 0 {
		out.extra["lk"] = values
	}
	if values := append(markerValues(doc, "mapType"), markerValues(doc, "structType")...); len(values) > 0 {
		out.extra["mt"] = values[0]
	}
	if len(enum) > 0 {
		out.extra["en"] = enum
	}
	for _, value := range markerValues(doc, "default") {
		var parsed any
		if json.Unmarshal([]byte(value), &parsed) == nil {
			out.extra["df"] = parsed
		}
	}
}
