#!/bin/sh
# Installs moto, a third party's EC2 server, into .cache/moto for the contract tests. Safe to repeat.
set -eu
cd "$(dirname "$0")/.."
version=5.2.5
if [ ! -x .cache/moto/bin/pip ]; then python3 -m venv .cache/moto; fi
if [ -x .cache/moto/bin/moto_server ] && .cache/moto/bin/pip show moto 2>/dev/null | grep -qx "Version: $version"; then
  echo "moto $version is already in .cache/moto"
  exit 0
fi
.cache/moto/bin/pip install --disable-pip-version-check --quiet "moto[ec2,server]==$version"
echo "moto $version is now in .cache/moto"
