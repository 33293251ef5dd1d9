#!/bin/sh
# Puts Stripe's own mock server into .cache/bin, where the contract tests look for it. Needs Go 1.20 or newer.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .cache/bin
GOBIN="$PWD/.cache/bin" go install github.com/stripe/stripe-mock@v0.197.0
echo "Installed .cache/bin/stripe-mock"
