//go:build tools

// Package tools names the command whose version this module pins.
package tools

import (
	_ "sigs.k8s.io/karpenter/kwok"
)
