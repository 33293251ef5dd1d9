/** The network that one customer of a provider usually gets: a /24, or a /48 of IPv6. */
export function networkOf(address: string): string {
  return address.includes(':') ? firstGroups(address, 3) : address.split('.').slice(0, 3).join('.')
}

/** The address of one connection, or the /64 of IPv6 from which a single machine may pick addresses. */
export function connectionOf(address: string): string {
  return address.includes(':') ? firstGroups(address, 4) : address
}

function firstGroups(address: string, count: number): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head.split(':').filter(Boolean)
  if (tail !== undefined) while (groups.length < count) groups.push('0')
  return groups
    .slice(0, count)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}

/** A loopback address means that the caller runs on this machine, as in the local stack. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./i.test(address)
}
