#!/bin/sh
# Adds to what Playwright switches off, of which Chromium would only heed the last list: the web pages with which a new window prepares its
# address bar's suggestions. Nobody types there, and they cost more than a page of ours.
for argument; do
  shift
  case $argument in
  --disable-features=*) argument=--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,${argument#*=} ;;
  esac
  set -- "$@" "$argument"
done
exec "$CHROMIUM" "$@"
