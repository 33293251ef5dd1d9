#!/bin/sh
# Adds one more to the features Playwright disables, because Chromium uses only the last list: the pages a new window
# preloads for its address bar's suggestions. Nobody types there, and they cost more than one of our pages.
for argument; do
  shift
  case $argument in
  --disable-features=*) argument=--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,${argument#*=} ;;
  esac
  set -- "$@" "$argument"
done
exec "$CHROMIUM" "$@"
