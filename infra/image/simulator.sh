#!/bin/bash
# Runs the simulator's container in the foreground: the command of simulator.service. The launch's tags say what to run.
# Usage: simulator <image>   the image of launches that name none
#        simulator --ended   after it, from systemd: says on the console what it died of
set -Eeuo pipefail
export LC_ALL=C
default=$1
metadata=${METADATA_URL:-http://169.254.169.254}/latest
agent=${AGENT_FILE:-/run/agent.py}

# EC2 shows this as the instance's system log.
console() {
  printf 'simulator: %s\n' "${1//[^[:print:]]/ }" >>"${CONSOLE:-/dev/console}"
}

# Shuts the machine down if trying again can't help. The product sees that it did so before it answered.
give_up() {
  console "$1"
  systemctl poweroff
  exit 1
}

if [[ $default == --ended ]]; then
  [[ ${SERVICE_RESULT:-} != success ]] || exit 0
  # The next start runs without it.
  [[ ! -e $agent ]] || touch "$agent.failed"
  console "ended: ${EXIT_CODE:-} ${EXIT_STATUS:-}. Its last lines:"
  journalctl --unit simulator --lines 20 --output cat | while IFS= read -r line; do console "${line:0:500}"; done
  exit 0
fi
trap 'console "line $LINENO failed: ${BASH_COMMAND:0:200}"' ERR

token=$(curl --silent --show-error --fail --max-time 5 --request PUT \
  --header 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$metadata/api/token")

# Prints a tag's value, or nothing if the launch has no such tag.
tag() {
  local answer status
  answer=$(curl --silent --show-error --max-time 5 --header "X-aws-ec2-metadata-token: $token" \
    --write-out '\n%{http_code}' "$metadata/meta-data/tags/instance/$1")
  status=${answer##*$'\n'}
  case $status in
    200) printf '%s' "${answer%$'\n'*}" ;;
    404) ;;
    *) echo "The metadata service answered $status for the tag $1." >&2; return 1 ;;
  esac
}

files=${FILES:-/usr/local/sbin/files}
image_pattern='^([A-Za-z0-9:][A-Za-z0-9._:/@-]{0,255})?$'

# The product has checked them. Still, nothing else may reach a command line.
check() {
  [[ $environment =~ ^([A-Za-z][A-Za-z0-9_-]{0,39})?$ ]] || give_up "refused the tag environment: $environment"
  [[ $vehicle =~ ^([a-z][a-z0-9_-]{0,39})?$ ]] || give_up "refused the tag vehicle: $vehicle"
  [[ $image =~ $image_pattern ]] || give_up "refused the tag image: $image"
}
warm=$(tag warm)
if [[ -z $warm ]]; then
  environment=$(tag environment)
  vehicle=$(tag vehicle)
  image=$(tag image)
  NEEDS_AGENT=$(tag agent)
  check
fi

# The container may use the internet and answer its visitors. It can't open a connection to the machine, the metadata
# service, or a private network, and has no IPv6. Without these rules, nothing runs.
refuse() {
  "$1" --check "${@:2}" --jump REJECT 2>/dev/null || "$1" --insert "${@:2}" --jump REJECT
}
opened=(--in-interface docker0 --match conntrack ! --ctstate ESTABLISHED)
refuse iptables INPUT "${opened[@]}"
for network in 0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 224.0.0.0/3; do
  refuse iptables DOCKER-USER "${opened[@]}" --destination "$network"
done
if [[ -e /proc/net/if_inet6 ]]; then
  refuse ip6tables INPUT --in-interface docker0
  refuse ip6tables FORWARD --in-interface docker0
fi

# Gets the program that runs the container and tells the site what happens inside. Without it, the simulator still
# starts.
get_agent() {
  [[ -n ${SITE:-} && ( -n ${NEEDS_AGENT:-} || ! -e $agent.failed ) ]] || return
  # A warm machine may still be preparing when it hears of its run.
  local new=$agent.$BASHPID
  # A proxy may answer with something else. The previous download is better than none.
  if curl --silent --show-error --fail --ipv4 --max-time 20 --output "$new" "$SITE/machines/agent.py" &&
    [[ $(tail --lines 1 "$new") == *'sys.exit(main(sys.argv[1:]))' ]]; then mv "$new" "$agent"; fi
  rm --force "$new"
  [[ -e $agent ]]
}

# Prints the whole reference of an image that a tag names.
reference() {
  local repository=${default%%@*} last
  last=${repository##*/}
  case $1 in
    '') printf '%s' "$default" ;;
    # A tag of the default image's repository.
    :*) printf '%s' "${repository%"$last"}${last%%:*}$1" ;;
    *) printf '%s' "$1" ;;
  esac
}

# Prints a text of the site's answer.
field() {
  [[ $answer =~ \"$1\":\"([^\"]*)\" ]] && printf '%s' "${BASH_REMATCH[1]}"
}

# Gets everything that any run may need. If something fails, the run tries again.
prepare() {
  local name
  get_agent || true
  "$files" prepare || true
  for name in '' "$@"; do
    [[ ! $name =~ $image_pattern ]] || docker pull --quiet "$(reference "$name")" || true
  done
}

# A warm machine waits here until it hears of its first and only run.
wait_for_run() {
  local answer names ready=false preparing=
  while :; do
    answer=$("$files" work ",\"ready\":$ready") || answer=
    if [[ ${answer##*$'\n'} == 200 ]]; then
      [[ $answer != *'"run":"'* ]] || break
      if [[ -z $preparing && $answer =~ \"images\":\[([^]]*)\] ]]; then
        IFS=, read -ra names <<<"${BASH_REMATCH[1]//\"/}"
        prepare "${names[@]}" >/dev/null 2>&1 &
        preparing=$!
      elif [[ -n $preparing ]] && ! kill -0 "$preparing" 2>/dev/null; then
        ready=true
      fi
    fi
    sleep 2
  done
  # What the run doesn't need would only take up its bandwidth and its disk.
  [[ -z $preparing ]] || $ready || kill "$preparing" 2>/dev/null || true
  environment=$(field environment)
  vehicle=$(field vehicle)
  image=$(field image)
  NEEDS_AGENT=$(field agent)
  check
}

[[ -z $warm ]] || wait_for_run
export NEEDS_AGENT
image=$(reference "$image")

# Before anything of a customer's runs: nobody should work where nothing is kept.
volume=()
if [[ -n ${SITE:-} ]]; then
  # The reason comes last.
  why=$("$files" load 2>&1 | tail --bytes=500) || give_up "cannot load the files: $why"
  if mountpoint --quiet "${DATA:-/data}"; then volume=(--volume "${DATA:-/data}:/data"); fi
fi

# The security group decides who may reach which port.
publish=()
for port in ${PORTS:-5173}; do publish+=(--publish "$port:$port"); done
options=(--gpus all "${publish[@]}" --cap-drop ALL --security-opt no-new-privileges --dns 1.1.1.1 --dns 8.8.8.8
  "${volume[@]}" --env "ENVIRONMENT=$environment" --env "VEHICLE=$vehicle")

if get_agent; then exec python3 "$agent" "${options[@]}" "$image"; fi
# Only the agent knows what else the container must be told, and when its work is done. systemd tries again.
[[ -z $NEEDS_AGENT ]] || exit 1

docker rm --force simulator >/dev/null 2>&1 || true
# A machine image may include the container's image, even a private one.
if ! docker image inspect "$image" >/dev/null 2>&1; then
  # A registry may fail for a moment.
  for pause in 5 15 0; do
    why=$(docker pull --quiet "$image" 2>&1 | tail --bytes=500) && break
    [[ $pause != 0 ]] || give_up "cannot pull $image: $why"
    sleep "$pause"
  done
fi
# The journal has the output, so Docker keeps no copy.
exec docker run --rm --name simulator --log-driver none "${options[@]}" "$image"
