module quorate.dev/scripts/schema

go 1.26.0

require (
	k8s.io/api v0.36.4
	k8s.io/apiextensions-apiserver v0.36.4
	k8s.io/apimachinery v0.36.4
	k8s.io/kube-aggregator v0.36.4
)
