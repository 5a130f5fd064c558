//go:build overlay

// Package overlay holds fields of proposals that upstream never shipped; the generator adds them to the named types.
package overlay

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadPodGroup is our name for the entry of Workload.spec.podGroups, since PodGroup is a kind below.
type WorkloadPodGroup struct {
	Replicas *int32 `json:"replicas,omitempty"`
}

// WorkloadSpec takes its groups from either list: the shipped one or that of the later draft.
type WorkloadSpec struct {
	// +optional
	// +listType=map
	// +listMapKey=name
	PodGroups []WorkloadPodGroup `json:"podGroups,omitempty" protobuf:"bytes,2,rep,name=podGroups"`
	// +optional
	// +listType=map
	// +listMapKey=name
	PodGroupTemplates []WorkloadPodGroup `json:"podGroupTemplates,omitempty"`
}

// +kind
type PodGroup struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PodGroupSpec `json:"spec"`
	// +optional
	Status PodGroupStatus `json:"status,omitempty"`
}

// +kind
type PodGroupList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PodGroup `json:"items"`
}

type PodGroupSpec struct {
	WorkloadRef          *v1.ObjectReference      `json:"workloadRef,omitempty"`
	PodGroupTemplateName string                   `json:"podGroupTemplateName,omitempty"`
	PodGroupTemplateRef  *v1.LocalObjectReference `json:"podGroupTemplateRef,omitempty"`
}

type PodGroupStatus struct {
	// +listType=map
	// +listMapKey=type
	Conditions    []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	ScheduledPods int32              `json:"scheduledPods,omitempty"`
}
