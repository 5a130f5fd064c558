#!/usr/bin/env bash
# Builds the real Kubernetes binaries that tests run against, once, into a cache outside the tree.
#
#   test/kubernetes/build.sh [1.36|1.37] [binary...]
#
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
[ -f "$module/go.mod" ] || { echo "build.sh: no module pins Kubernetes $minor (have: $(cd "$here" && echo v*/))" >&2; exit 2; }
command -v go >/dev/null || { echo "build.sh: Go is not installed; the suites that need the real Kubernetes binaries cannot run" >&2; exit 3; }

version=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit }' "$module/go.mod")
cache=${QUORATE_KUBERNETES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quorate/kubernetes}
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
    e2e.test) go test -mod=readonly -trimpath -c -ldflags "-s -w $stamp" -o "$out/$name.part" k8s.io/kubernetes/test/e2e ;;
    *) go build -mod=readonly -trimpath -ldflags "-s -w $stamp" -o "$out/$name.part" "k8s.io/kubernetes/cmd/$name" ;;
  esac
  mv "$out/$name.part" "$out/$name"
done
echo "$out"
