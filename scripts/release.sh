#!/usr/bin/env bash
# Makes what a release consists of: the npm package, the chart, and for each platform the archive of the kubectl plugin
# with a krew manifest over all of them. Usage: bash scripts/release.sh FOLDER; needs npm, tar and helm ($HELM).
set -euo pipefail
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(node -p "require('./package.json').version")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm pack --silent --pack-destination "$out" >/dev/null
"${HELM:-helm}" package deploy/chart --destination "$work" >/dev/null
mv "$work/quorate-$version.tgz" "$out/quorate-chart-$version.tgz"

# One archive per platform, because the store of `quorate up` has a binary for each. It runs with the machine's Node.
for platform in ${PLATFORMS:-linux/x64 linux/arm64 darwin/x64 darwin/arm64}; do
  os=${platform%/*} cpu=${platform#*/}
  plugin=$work/$os-$cpu
  mkdir -p "$plugin"
  tar xzf "$out/quorate-$version.tgz" -C "$plugin"
  cp package-lock.json .npmrc "$plugin/package/"
  (cd "$plugin/package" && npm ci --silent --omit=dev --ignore-scripts --no-audit --no-fund --os="$os" --cpu="$cpu" >/dev/null)
  cp LICENSE "$plugin/"
  ln -s package/dist/cli/main.js "$plugin/kubectl-quorate.js"
  printf '%s\n' '#!/bin/sh' 'exec node "$(dirname "$(readlink -f "$0")")/kubectl-quorate.js" "$@"' >"$plugin/kubectl-quorate"
  chmod 755 "$plugin/kubectl-quorate"
  tar czf "$out/kubectl-quorate-$version-$os-$cpu.tar.gz" -C "$plugin" .
done
node scripts/krew-manifest.mjs "$out" >"$out/quorate.yaml"
