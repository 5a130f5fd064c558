#!/usr/bin/env bash
# Builds the real Kubernetes binaries that tests run against, once, into a cache outside the tree.
#
#   test/kubernetes/build.sh [1.35|1.36|1.37] [binary...]
#   test/kubernetes/build.sh karpenter
#
# The second builds Karpenter with its kwok provider, and lays its definitions beside it.
# Prints the folder that holds them on standard output; progress goes to standard error.
# KUBEBUILDER_ASSETS, if set, the minor is the default one and it holds all that is asked for, is printed as it is and
# nothing is built.
# QUORATE_KUBERNETES_CACHE overrides the cache folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
minor=${1:-1.36}
shift || true
binaries=("$@")
[ ${#binaries[@]} -gt 0 ] || binaries=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl e2e.test)
if [ "$minor" = 1.36 ] && [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
  missing=0
  for name in "${binaries[@]}"; do [ -x "$KUBEBUILDER_ASSETS/$name" ] || missing=1; done
  if [ $missing = 0 ]; then
    echo "$KUBEBUILDER_ASSETS"
    exit 0
  fi
fi
module=$here/v$minor
[ "$minor" = karpenter ] && module=$here/karpenter
[ -f "$module/go.mod" ] || { echo "build.sh: no module pins Kubernetes $minor (have: $(cd "$here" && echo v*/))" >&2; exit 2; }
command -v go >/dev/null || { echo "build.sh: Go is not installed; the suites that need the real Kubernetes binaries cannot run" >&2; exit 3; }

cache=${QUORATE_KUBERNETES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quorate/kubernetes}
pinned() { awk -v name="$1" '$1 == name { print $2; exit } $1 == "require" && $2 == name { print $3; exit }' "$module/go.mod"; }

if [ "$minor" = karpenter ]; then
  version=$(pinned sigs.k8s.io/karpenter)
  out=$cache/karpenter-$version
  if [ ! -x "$out/karpenter" ]; then
    echo "building karpenter $version" >&2
    mkdir -p "$out/definitions"
    cd "$module"
    source=$(go list -mod=readonly -m -f '{{ .Dir }}' sigs.k8s.io/karpenter)
    install -m 644 "$source"/pkg/apis/crds/*.yaml "$source"/kwok/apis/crds/*.yaml "$out/definitions"
    CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags "-s -w" -o "$out/karpenter.part" sigs.k8s.io/karpenter/kwok
    mv "$out/karpenter.part" "$out/karpenter"
  fi
  echo "$out"
  exit 0
fi

version=$(pinned k8s.io/kubernetes)
out=$cache/$version
mkdir -p "$out"

stamp="-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor#1.} -X k8s.io/component-base/version.gitTreeState=clean"
cd "$module"
export CGO_ENABLED=0
for name in "${binaries[@]}"; do
  [ -x "$out/$name" ] && continue
  echo "building $name $version" >&2
  case $name in
    etcd) go build -mod=readonly -trimpath -ldflags "-s -w" -o "$out/$name.part" go.etcd.io/etcd/server/v3 ;;
    informers) go build -mod=readonly -trimpath -ldflags "-s -w" -o "$out/$name.part" ./informers ;;
    e2e.test) go test -vet=off -mod=readonly -trimpath -c -ldflags "-s -w $stamp" -o "$out/$name.part" k8s.io/kubernetes/test/e2e ;;
    *) go build -mod=readonly -trimpath -ldflags "-s -w $stamp" -o "$out/$name.part" "k8s.io/kubernetes/cmd/$name" ;;
  esac
  mv "$out/$name.part" "$out/$name"
done
echo "$out"
