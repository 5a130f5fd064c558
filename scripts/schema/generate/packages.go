package main

// A source is one Go package whose types go into the data file.
type source struct {
	id      string // short name used in type references: "core/v1"
	module  string
	version string // empty: the version pinned in go.mod
	dir     string
	group   string
	apiVer  string
	openapi string // prefix of OpenAPI definition names
	// rename maps Go type names to ours where an overlay needs the upstream name for a kind.
	rename map[string]string
}

const (
	apiModule        = "k8s.io/api"
	machineryModule  = "k8s.io/apimachinery"
	extensionsModule = "k8s.io/apiextensions-apiserver"
	aggregatorModule = "k8s.io/kube-aggregator"
)

func api(dir, group, version string) source {
	return source{
		id: dir + "/" + version, module: apiModule, dir: dir + "/" + version,
		group: group, apiVer: version, openapi: "io.k8s.api." + dir + "." + version,
	}
}

func apiAt(module, dir, group, version string) source {
	s := api(dir, group, version)
	s.version = module
	return s
}

// sources lists every group-version the server can know. Versions that no single release of
// k8s.io/api holds together come from the release that last shipped them.
func sources() []source {
	v1alpha1 := apiAt("v0.35.0", "scheduling", "scheduling.k8s.io", "v1alpha1")
	v1alpha1.rename = map[string]string{"PodGroup": "WorkloadPodGroup"}
	return []source{
		{id: "meta/v1", module: machineryModule, dir: "pkg/apis/meta/v1", group: "meta.k8s.io", apiVer: "v1",
			openapi: "io.k8s.apimachinery.pkg.apis.meta.v1"},
		api("core", "", "v1"),
		api("admission", "admission.k8s.io", "v1"),
		api("admissionregistration", "admissionregistration.k8s.io", "v1"),
		api("apps", "apps", "v1"),
		api("authentication", "authentication.k8s.io", "v1"),
		api("authorization", "authorization.k8s.io", "v1"),
		api("autoscaling", "autoscaling", "v1"),
		api("autoscaling", "autoscaling", "v2"),
		api("batch", "batch", "v1"),
		api("certificates", "certificates.k8s.io", "v1"),
		api("coordination", "coordination.k8s.io", "v1"),
		api("discovery", "discovery.k8s.io", "v1"),
		api("events", "events.k8s.io", "v1"),
		api("flowcontrol", "flowcontrol.apiserver.k8s.io", "v1"),
		apiAt("v0.37.1", "lifecycle", "lifecycle.k8s.io", "v1alpha1"),
		api("networking", "networking.k8s.io", "v1"),
		api("node", "node.k8s.io", "v1"),
		api("policy", "policy", "v1"),
		api("policy", "policy", "v1beta1"),
		api("rbac", "rbac.authorization.k8s.io", "v1"),
		api("resource", "resource.k8s.io", "v1"),
		api("scheduling", "scheduling.k8s.io", "v1"),
		v1alpha1,
		api("scheduling", "scheduling.k8s.io", "v1alpha2"),
		apiAt("v0.37.1", "scheduling", "scheduling.k8s.io", "v1alpha3"),
		apiAt("v0.37.1", "scheduling", "scheduling.k8s.io", "v1beta1"),
		api("storage", "storage.k8s.io", "v1"),
		{id: "apiextensions/v1", module: extensionsModule, dir: "pkg/apis/apiextensions/v1",
			group: "apiextensions.k8s.io", apiVer: "v1",
			openapi: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"},
		{id: "apiregistration/v1", module: aggregatorModule, dir: "pkg/apis/apiregistration/v1",
			group: "apiregistration.k8s.io", apiVer: "v1",
			openapi: "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1"},
	}
}

// importPath gives the Go import path of a source, by which other packages name it.
func (s source) importPath() string { return s.module + "/" + s.dir }

// special maps Go types with a wire form of their own to the scalar names of the data file.
var special = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "microtime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "fieldsV1",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Verbs":                                            "<>string",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "intOrString",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "rawExtension",
	"k8s.io/apimachinery/pkg/types.UID":                                                     "string",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "json",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "schemaOrBool",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "schemaOrArray",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "schemaOrStringArray",
}

// optionKinds are registered in every group-version.
var optionKinds = []string{"CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent"}
