#!/bin/bash
# The user's files as /data, through rclone. SITE names the site's origin.
# Usage: files load         for simulator.sh, before the simulator: mounts them, or exits with 1 and says why
#        files mount        the command of data.service
#        files save         its end: waits until everything is in the bucket
#        files prepare      on a warm machine: installs rclone
#        files work <more>  for simulator.sh there: asks for its run, and prints the answer and its status
#        files credentials  for rclone, whenever the last ones are about to end
set -euo pipefail
export LC_ALL=C
metadata=${METADATA_URL:-http://169.254.169.254}/latest
data=${DATA:-/data}
run=${FILES_RUN:-/run/files}
# From https://github.com/rclone/rclone/releases: SHA256SUMS, which rclone's release key signs.
version=1.75.1
sum=982b5aa772841168f8e380f139e9e787b2a105403e32b94da8676a0e1c0a13ab

# Posts EC2's proof of what this machine is, plus what follows. Prints the answer, with its status in the last line.
ask() {
  local token header document signature
  token=$(curl --silent --show-error --fail --max-time 5 --request PUT \
    --header 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$metadata/api/token") || return
  header="X-aws-ec2-metadata-token: $token"
  document=$(curl --silent --show-error --fail --max-time 5 --header "$header" \
    "$metadata/dynamic/instance-identity/document" | base64 --wrap=0) || return
  signature=$(curl --silent --show-error --fail --max-time 5 --header "$header" \
    "$metadata/dynamic/instance-identity/signature" | tr -d '\n') || return
  printf '{"document":"%s","signature":"%s"%s}' "$document" "$signature" "${2:-}" |
    curl --silent --show-error --ipv4 --max-time 20 --header 'Content-Type: application/json' --data-binary @- \
      --write-out '\n%{http_code}' "$SITE/machines/$1"
}

say() {
  ask files ",\"phase\":\"$1\"" >/dev/null || true
}

fail() {
  echo "$1" >&2
  say failed
  exit 1
}

# Prints a text of the answer.
field() {
  [[ $answer =~ \"$1\":\"([A-Za-z0-9:/._-]*)\" ]] && printf '%s' "${BASH_REMATCH[1]}"
}

# apt may be busy with the machine's own updates, and its list of packages may be old.
install_package() {
  local apt=(apt-get --option DPkg::Lock::Timeout=60 --yes --quiet)
  export DEBIAN_FRONTEND=noninteractive
  "${apt[@]}" install "$1" && return
  "${apt[@]}" update && "${apt[@]}" install "$1"
}

# Bash ignores `set -e` here because the caller checks the result, so each step must report its own failure.
get_rclone() {
  [[ $(rclone version 2>/dev/null) != "rclone v$version"* ]] || return 0
  # A warm machine may still be preparing when it hears of its run.
  local name=rclone-v$version-linux-amd64 new=$run/$BASHPID
  mkdir --parents "$new"
  command -v fusermount3 >/dev/null || install_package fuse3 || return
  curl --silent --show-error --fail --location --max-time 60 --output "$new/rclone.zip" \
    "https://github.com/rclone/rclone/releases/download/v$version/$name.zip" || return
  echo "$sum  $new/rclone.zip" | sha256sum --check --quiet || return
  python3 -m zipfile --extract "$new/rclone.zip" "$new" || return
  install --mode 755 "$new/$name/rclone" "/usr/local/bin/rclone.$BASHPID" || return
  mv "/usr/local/bin/rclone.$BASHPID" /usr/local/bin/rclone || return
  rm --recursive --force "$new"
}

load() {
  local until=$((SECONDS + ${FILES_PATIENCE:-90})) answer status provider
  mkdir --parents "$run"
  while :; do
    answer=$(ask credentials) || answer=$'\n000'
    status=${answer##*$'\n'}
    case $status in
      200) break ;;
      # This site has no files, if the answer is the site's own.
      404) [[ $(field code) != not_found ]] || return 0 ;;
    esac
    ((SECONDS < until)) || fail "the site answered $status"
    sleep 2
  done
  case $(field Endpoint) in
    *.r2.cloudflarestorage.com) provider=Cloudflare ;;
    *.amazonaws.com) provider=AWS ;;
    *) provider=Other ;;
  esac
  # Nothing here is secret: rclone gets its credentials itself, and only keeps them in memory.
  printf '%s\n' "RCLONE_S3_PROVIDER=$provider" "RCLONE_S3_ENDPOINT=$(field Endpoint)" \
    "RCLONE_S3_REGION=$(field Region)" "FOLDER=$(field Bucket)/$(field Prefix)" "MODE=$(field Mode)" >"$run/env"
  printf '[default]\ncredential_process = %s credentials\n' "$(realpath "$0")" >"$run/aws"
  until get_rclone; do
    ((SECONDS < until)) || fail 'rclone could not be installed'
    sleep 2
  done
  systemctl start data || fail "rclone could not mount the bucket: $(journalctl --unit data --lines 5 --output cat || true)"
  say loaded
}

# rclone signs with the key of its first credentials for as long as their ID stays, and all of R2's have the same ID
# (aws/aws-sdk-go-v2#3350). So it connects anew before they expire, and as soon as the site gives new ones.
reconnect() {
  while sleep "${FILES_RECONNECT:-600}" && kill -0 $$; do
    until "$0" credentials && curl --silent --fail --max-time 60 --unix-socket "$run/rc" --data command=set \
      --data-urlencode "fs=:s3:$FOLDER" http://rclone/backend/command; do
      sleep 10
      kill -0 $$ || return 0
    done
  done
}

mount_data() {
  set -a
  # shellcheck disable=SC1091
  . "$run/env"
  AWS_CONFIG_FILE=$run/aws
  AWS_EC2_METADATA_DISABLED=true
  set +a
  # What a crashed rclone leaves behind.
  umount --lazy "$data" 2>/dev/null || true
  rm --force "$run/rc"
  mkdir --parents "$data"
  local options=()
  [[ $MODE == write ]] || options=(--read-only)
  reconnect >/dev/null 2>&1 &
  # What isn't in the bucket yet stays in the cache, and is uploaded after a restart.
  # A listing has the bucket's own times. rclone's would take a call per file, one by one: minutes for 10,000 files.
  # Small files spend their time waiting, so many upload at once. The buffers of large ones are limited.
  exec rclone mount ":s3:$FOLDER" "$data" --config '' --s3-env-auth --s3-no-check-bucket --s3-directory-markers \
    --s3-list-version 2 --s3-list-url-encode=true --use-server-modtime \
    --s3-chunk-size 16M --s3-upload-concurrency 8 --transfers 32 --max-buffer-memory 1G \
    --cache-dir "${FILES_CACHE:-/var/cache/files}" --vfs-cache-mode full --vfs-write-back 2s \
    --vfs-cache-max-size 40G --vfs-cache-min-free-space 5G --dir-cache-time 10s \
    --allow-other --umask 0 --dir-perms 0777 --file-perms 0777 \
    --rc --rc-no-auth --rc-addr "unix://$run/rc" --use-json-log=false --log-level NOTICE "${options[@]}"
}

# The simulator has ended, so nothing new is written. systemd ends this after two minutes.
save() {
  local stats
  mountpoint --quiet "$data" || return 0
  # The kernel tells rclone of a closed file a moment later.
  sync --file-system "$data" || true
  sleep 1
  while :; do
    stats=$(curl --silent --fail --max-time 5 --unix-socket "$run/rc" --request POST http://rclone/vfs/stats) || return 1
    [[ $stats =~ \"uploadsInProgress\":\ *0, && $stats =~ \"uploadsQueued\":\ *0[^0-9] ]] && break
    sleep 0.5
  done
  say saved
}

case ${1:-} in
  load) load ;;
  mount) mount_data ;;
  save) save ;;
  prepare)
    mkdir --parents "$run"
    get_rclone
    ;;
  work) ask work "$2" ;;
  credentials)
    answer=$(ask credentials)
    [[ ${answer##*$'\n'} == 200 ]] && printf '%s' "${answer%$'\n'*}"
    ;;
  *) exit 64 ;;
esac
