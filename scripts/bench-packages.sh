#!/usr/bin/env bash
# Installs the load generator of the benchmarks, where it is missing and apt can provide it.
set -u

command -v wrk >/dev/null 2>&1 && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "wrk is not installed (needs root and apt-get); rows over HTTP will fail"
  exit 0
fi

echo "installing wrk"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { apt-get install -y -qq --no-install-recommends wrk >"$log" 2>&1; }
install || { apt-get update -qq >"$log" 2>&1 && install; } || {
  echo "apt-get could not install wrk"
  tail -n 5 "$log"
}
