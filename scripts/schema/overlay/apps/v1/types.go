//go:build overlay

// Package overlay holds fields of proposals that upstream never shipped; the generator adds them to the named types.
package overlay

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type ReplicaSetSpec struct {
	DownscalePodPicker *DownscalePodPicker `json:"downscalePodPicker,omitempty"`
}

type DeploymentSpec struct {
	DownscalePodPicker *DownscalePodPicker `json:"downscalePodPicker,omitempty"`
}

type DownscalePodPicker struct {
	HTTP           *HTTPPodPicker `json:"http,omitempty"`
	MaxRetries     *int32         `json:"maxRetries,omitempty"`
	TimeoutSeconds *int32         `json:"timeoutSeconds,omitempty"`
}

type HTTPPodPicker struct {
	Host   string             `json:"host"`
	Port   intstr.IntOrString `json:"port"`
	Path   string             `json:"path,omitempty"`
	Scheme string             `json:"scheme,omitempty"`
	// +listType=atomic
	HTTPHeaders []HTTPPodPickerHeader `json:"httpHeaders,omitempty"`
}

type HTTPPodPickerHeader struct {
	Name      string                     `json:"name"`
	Value     string                     `json:"value,omitempty"`
	ValueFrom *HTTPPodPickerHeaderSource `json:"valueFrom,omitempty"`
}

type HTTPPodPickerHeaderSource struct {
	SecretKeyRef *v1.SecretKeySelector `json:"secretKeyRef,omitempty"`
}
