#!/bin/sh
# Installs the packages of packages.txt that this machine lacks, and says which. As root directly, else
# through sudo; without either it prints the one line to run and exits 3.
set -eu

list=$(dirname "$0")/packages.txt
packages=$(sed -e 's/#.*//' "$list" | tr -s '[:space:]' ' ')

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    echo "deps: this is no Debian system; install the equivalents of deps/packages.txt yourself:$packages" >&2
    exit 3
fi

missing=""
count=0
for package in $packages; do
    count=$((count + 1))
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done

if [ -z "$missing" ]; then
    echo "deps: all $count packages are installed"
    exit 0
fi

echo "deps: installing$missing"
command="apt-get update && apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    prefix=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    prefix="sudo"
elif command -v sudo >/dev/null 2>&1 && [ -t 0 ]; then
    prefix="sudo" # it will ask for the password
else
    echo "deps: need root. Run this line, then repeat the command:" >&2
    echo "  su -c '$command'" >&2
    exit 3
fi

$prefix apt-get update -qq
# shellcheck disable=SC2086 # a list of words
$prefix env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
echo "deps: done"
