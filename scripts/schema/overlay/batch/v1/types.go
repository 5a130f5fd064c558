//go:build overlay

// Package overlay holds fields of proposals that upstream never shipped, or not yet in the pinned release; the generator
// adds them to the named types.
package overlay

// JobSpec gains what a Job of v1.37 says about the scheduling of its pods.
type JobSpec struct {
	Scheduling *JobSchedulingConfiguration `json:"scheduling,omitempty" protobuf:"bytes,17,opt,name=scheduling"`
}

type JobSchedulingConfiguration struct {
	SchedulingPolicy      *JobSchedulingPolicy      `json:"schedulingPolicy,omitempty" protobuf:"bytes,1,opt,name=schedulingPolicy"`
	SchedulingConstraints *JobSchedulingConstraints `json:"schedulingConstraints,omitempty" protobuf:"bytes,2,opt,name=schedulingConstraints"`
	DisruptionMode        *JobDisruptionMode        `json:"disruptionMode,omitempty" protobuf:"bytes,3,opt,name=disruptionMode"`
	// +listType=map
	// +listMapKey=name
	// +patchStrategy=merge
	// +patchMergeKey=name
	ResourceClaims []JobResourceClaim `json:"resourceClaims,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,4,rep,name=resourceClaims"`
}

type JobSchedulingPolicy struct {
	Basic *JobBasicSchedulingPolicy `json:"basic,omitempty" protobuf:"bytes,1,opt,name=basic"`
	Gang  *JobGangSchedulingPolicy  `json:"gang,omitempty" protobuf:"bytes,2,opt,name=gang"`
}

type JobBasicSchedulingPolicy struct {
}

type JobGangSchedulingPolicy struct {
	MinCount *int32 `json:"minCount,omitempty" protobuf:"varint,1,opt,name=minCount"`
}

type JobSchedulingConstraints struct {
	// +listType=atomic
	Topology []JobTopologyConstraint `json:"topology,omitempty" protobuf:"bytes,1,rep,name=topology"`
}

type JobTopologyConstraint struct {
	Key string `json:"key" protobuf:"bytes,1,opt,name=key"`
}

type JobDisruptionMode struct {
	Single *JobSingleDisruptionMode `json:"single,omitempty" protobuf:"bytes,1,opt,name=single"`
	All    *JobAllDisruptionMode    `json:"all,omitempty" protobuf:"bytes,2,opt,name=all"`
}

type JobSingleDisruptionMode struct {
}

type JobAllDisruptionMode struct {
}

type JobResourceClaim struct {
	Name                      string  `json:"name" protobuf:"bytes,1,opt,name=name"`
	ResourceClaimName         *string `json:"resourceClaimName,omitempty" protobuf:"bytes,2,opt,name=resourceClaimName"`
	ResourceClaimTemplateName *string `json:"resourceClaimTemplateName,omitempty" protobuf:"bytes,3,opt,name=resourceClaimTemplateName"`
}
