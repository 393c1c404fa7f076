#!/usr/bin/env bash
# Installs the system programs that tests start, where they are missing and apt can provide them.
# A test whose program is absent says so in its output; nothing here is needed to use the library.
set -u

missing=()
command -v chromium >/dev/null 2>&1 || missing+=(chromium)

if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "system packages not installed (needs root and apt-get): ${missing[*]}"
  exit 0
fi

echo "installing system packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1; }
install || { apt-get update -qq >"$log" 2>&1 && install; } || {
  echo "apt-get could not install: ${missing[*]}"
  tail -n 5 "$log"
}
