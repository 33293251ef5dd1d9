#!/bin/bash
# A machine of ours with its container, in network namespaces: run it in `unshare --net --mount`. The bridge and its rules
# are as Docker makes them. Prints what is reached before and after simulator.sh, as one JSON object.
# Usage: machine-network.sh <node> <machine-network.ts> <simulator.sh> <default image>
set -euo pipefail
node=$1 program=$2 script=$3 image=$4
trap 'kill $(jobs -p) 2>/dev/null' EXIT
mount -t tmpfs none /run
ip link set lo up
ip netns add box
ip netns add outside
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/ipv6/conf/all/forwarding

# The container.
ip link add docker0 type bridge
ip address add 172.17.0.1/16 dev docker0
ip address add fd00:17::1/64 dev docker0 nodad
ip link set docker0 up
ip link add vbox type veth peer name eth0 netns box
ip link set vbox master docker0 up
ip -n box address add 172.17.0.2/16 dev eth0
ip -n box address add fd00:17::2/64 dev eth0 nodad
ip -n box link set eth0 up
ip -n box route add default via 172.17.0.1
ip -n box route add default via fd00:17::1

# What the machine can reach: its metadata service, another server, a private network, and the internet.
ip link add ens5 type veth peer name eth0 netns outside
ip address add 10.42.0.5/20 dev ens5
ip address add fd00:42::5/64 dev ens5 nodad
ip link set ens5 up
for address in 10.42.0.1/20 10.42.0.9/20 169.254.169.254/32 192.168.7.7/32 198.51.100.7/32; do
  ip -n outside address add "$address" dev eth0
done
for address in fd00:42::1/64 fd00:ec2::254/128 2001:db8::7/128; do
  ip -n outside address add "$address" dev eth0 nodad
done
ip -n outside link set eth0 up
ip -n outside route add default via fd00:42::5
ip route add default via 10.42.0.1
ip route add default via fd00:42::1

iptables -P FORWARD DROP
iptables -N DOCKER-USER
iptables -A FORWARD -j DOCKER-USER
iptables -A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
iptables -A FORWARD -d 172.17.0.2 ! -i docker0 -o docker0 -p tcp --dport 5173 -j ACCEPT
iptables -A FORWARD -i docker0 ! -o docker0 -j ACCEPT
iptables -t nat -A PREROUTING ! -i docker0 -p tcp --dport 5173 -j DNAT --to-destination 172.17.0.2:5173
iptables -t nat -A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE

"$node" "$program" serve /run/machine-up &
ip netns exec box "$node" "$program" serve /run/box-up &
ip netns exec outside "$node" "$program" serve /run/outside-up &
until [[ -e /run/machine-up && -e /run/box-up && -e /run/outside-up ]]; do sleep 0.1; done

probe() {
  printf '"%s":{"container":' "$1"
  ip netns exec box "$node" "$program" reach 169.254.169.254:80 [fd00:ec2::254]:80 10.42.0.9:5173 10.42.0.9:22 \
    192.168.7.7:22 172.17.0.1:22 10.42.0.5:22 [fd00:17::1]:22 [2001:db8::7]:443 198.51.100.7:443
  printf ',"visitor":'
  ip netns exec outside "$node" "$program" reach 10.42.0.5:5173
  printf '}'
}
printf '{'
probe before
bash "$script" "$image" >&2
# systemd starts it again after the container ends.
bash "$script" "$image" >&2
printf ','
probe after
printf ',"rules":"%s"}' "$(iptables -S | grep -c REJECT)"
