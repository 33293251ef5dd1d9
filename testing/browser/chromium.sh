#!/bin/sh
# Adds to the features Playwright disables, because Chromium would heed only the last list: the web pages a new window
# preloads for its address bar's suggestions. Nobody types there, and they cost more than a page of ours.
for argument; do
  shift
  case $argument in
  --disable-features=*) argument=--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,${argument#*=} ;;
  esac
  set -- "$@" "$argument"
done
exec "$CHROMIUM" "$@"
