#!/bin/bash
# Puts Docker's data and the cache of /data on the machine's own disk (EC2: instance store), if it has one: the fastest,
# at no cost. AWS's machine image mounts it. If anything fails, everything stays on the root disk.
# Usage: local-disk first   at the first boot
#        local-disk         at each later boot, before Docker: what is still there
set -uo pipefail
export LC_ALL=C
disk=${LOCAL_DISK:-/opt/dlami/nvme}
devices=${DEVICES:-/dev/disk/by-id}
moved=/var/lib/local-disk-in-use
# Docker keeps images in its own folder, or from version 29 on in containerd's.
folders=(/var/lib/docker /var/lib/containerd "${FILES_CACHE:-/var/cache/files}")

# EC2 shows this as the instance's system log.
console() {
  echo "local-disk: $1" >>"${CONSOLE:-/dev/console}"
}

compgen -G "$devices/nvme-Amazon_EC2_NVMe_Instance_Storage*" >/dev/null || exit 0
# After a reboot, files that aren't in the bucket yet may be on it, so they are worth a longer wait.
patience=30
if [[ ${1:-} != first ]]; then
  [[ -e $moved ]] || exit 0
  patience=120
fi
for ((waited = 0; waited < patience; waited++)); do
  mountpoint --quiet "$disk" && break
  sleep 1
done
mountpoint --quiet "$disk" || { console "nothing is mounted at $disk"; exit 0; }

room() {
  df --output=avail --block-size=1 "$1" | tail --lines=1
}

if [[ ${1:-} == first ]]; then
  # A machine image may include container images. They stay where they are.
  images=$(docker image ls --quiet) || { console 'could not list the images'; exit 0; }
  [[ -z $images ]] || { console 'kept the images of the machine image on the root disk'; exit 0; }
  (($(room "$disk") > $(room /))) || { console 'the root disk has more room'; exit 0; }
  for folder in "${folders[@]}"; do mkdir --parents "$disk$folder" || exit 0; done
  # Without it, the next boot wouldn't look for these folders.
  touch "$moved" || exit 0
  systemctl stop docker.socket docker containerd
fi
for folder in "${folders[@]}"; do
  [[ -d $disk$folder ]] || continue
  mkdir --parents "$folder"
  mountpoint --quiet "$folder" || mount --bind "$disk$folder" "$folder" || { console "could not move $folder"; continue; }
  console "$folder is on the local disk"
done
