//go:build overlay

// Package overlay holds fields of proposals that upstream never shipped, or not yet in the pinned release; the generator
// adds them to the named types.
package overlay

// PodSpec gains the links to a group of pods that drafts of the Workload API used before schedulingGroup.
type PodSpec struct {
	Workload          *PodWorkload          `json:"workload,omitempty"`
	WorkloadReference *PodWorkloadReference `json:"workloadReference,omitempty"`
	WorkloadRef       *PodWorkloadRef       `json:"workloadRef,omitempty" protobuf:"bytes,42,opt,name=workloadRef"`

	// Of v1.37.
	// +listType=map
	// +listMapKey=name
	// +patchStrategy=merge
	// +patchMergeKey=name
	EvictionResponders []EvictionResponder `json:"evictionResponders,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,44,rep,name=evictionResponders"`
}

type EvictionResponder struct {
	Name     string `json:"name" protobuf:"bytes,1,opt,name=name"`
	Priority int32  `json:"priority" protobuf:"varint,2,opt,name=priority"`
}

type PodWorkload struct {
	Name                 string `json:"name"`
	PodGroup             string `json:"podGroup,omitempty"`
	PodGroupReplicaIndex *int32 `json:"podGroupReplicaIndex,omitempty"`
}

type PodWorkloadReference struct {
	Name                 string `json:"name"`
	PodGroup             string `json:"podGroup,omitempty"`
	PodGroupReplicaIndex *int32 `json:"podGroupReplicaIndex,omitempty"`
}

type PodWorkloadRef struct {
	Name               string `json:"name" protobuf:"bytes,1,opt,name=name"`
	PodGroup           string `json:"podGroup,omitempty" protobuf:"bytes,2,opt,name=podGroup"`
	PodGroupReplicaKey string `json:"podGroupReplicaKey,omitempty" protobuf:"bytes,3,opt,name=podGroupReplicaKey"`
	PodGroupName       string `json:"podGroupName,omitempty"`
}
