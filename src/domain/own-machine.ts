/** Plain HTTP or HTTPS to a loopback address, any port. */
export function isOwnMachine({ protocol, hostname }: { protocol: string; hostname: string }): boolean {
  return /^https?:$/.test(protocol) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
