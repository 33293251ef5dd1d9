/** The network that an address belongs to, as one customer of a provider usually holds it: a /24, or a /48 of IPv6. */
export function networkOf(address: string): string {
  return address.includes(':') ? firstGroups(address, 3) : address.split('.').slice(0, 3).join('.')
}

/** One connection's: the address, or the /64 of IPv6 that a single machine may choose its addresses from. */
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

/** Nobody on the internet has one: who comes from there is on the machine itself, as in the local stack. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./i.test(address)
}
