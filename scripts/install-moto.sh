#!/bin/sh
# Installs moto, a third party's EC2 server, into .cache/moto for the contract tests. Safe to repeat.
set -eu
cd "$(dirname "$0")/.."
version=5.2.5
moto=.cache/moto

# A moved folder or a removed Python breaks the programs inside: then it is made anew.
if "$moto/bin/moto_server" --help >/dev/null 2>&1 && "$moto/bin/pip" show moto 2>/dev/null | grep -qx "Version: $version"; then
  echo "moto $version is already in $moto"
  exit 0
fi
python3 -m venv --clear "$moto"
"$moto/bin/pip" install --disable-pip-version-check --quiet "moto[ec2,server]==$version"
echo "moto $version is now in $moto"
