/** The network that an address belongs to, as one customer of a provider usually holds it: a /24, or a /48 of IPv6. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address.split('.').slice(0, 3).join('.')
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head.split(':').filter(Boolean)
  if (tail !== undefined) while (groups.length < 3) groups.push('0')
  return groups
    .slice(0, 3)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}

/** Nobody on the internet has one: who comes from there is on the machine itself, as in the local stack. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./i.test(address)
}
