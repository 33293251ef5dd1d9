/** Plain HTTP or HTTPS to a loopback address, any port. */
export function isOwnMachine({ protocol, hostname }: { protocol: string; hostname: string }): boolean {
  return /^https?:$/.test(protocol) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

/** Names that never lead to the public Internet, by their last label. */
const PRIVATE_NAMES = /\.(localhost|local|internal|intranet|lan|corp|home|arpa|onion)$/

/** Whether the public DNS may know this name, in lower case. A name that ends in a number is an IPv4 address: `0x7f.1`. */
export function isPublicName(host: string): boolean {
  return host.includes('.') && !PRIVATE_NAMES.test(host) && !/(^|\.)(\d+|0x[\da-f]*)$/.test(host)
}
