#!/usr/bin/env bash
# Installs the system programs that tests start, where they are missing and apt can provide them.
# A test whose program is absent says so in its output; nothing here is needed to use the library.
set -u

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need chromium chromium
need redis-server redis-server
need nginx nginx-light
need caddy caddy
need tmux tmux
need tmux tmux
need zsh zsh
need fish fish

if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "system packages not installed (needs root and apt-get): ${missing[*]}"
  exit 0
fi

echo "installing system packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Debian starts a server when it installs one; the tests start their own.
if [ ! -e /usr/sbin/policy-rc.d ]; then
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
  trap 'rm -f "$log" /usr/sbin/policy-rc.d' EXIT
fi
install() { apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1; }
install || { apt-get update -qq >"$log" 2>&1 && install; } || {
  echo "apt-get could not install: ${missing[*]}"
  tail -n 5 "$log"
}
