import { BlockList, isIP } from 'node:net'

/** IPv4 ranges off the public Internet: IANA's special-purpose registry, multicast, and reserved ones. */
const PRIVATE_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const
/** IPv6 is public only in 2000::/3, and not in these parts of it: Teredo and the like, documentation, 6to4. */
const PRIVATE_V6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const privateV4 = new BlockList()
for (const [net, bits] of PRIVATE_V4) privateV4.addSubnet(net, bits, 'ipv4')
const privateV6 = new BlockList()
for (const [net, bits] of PRIVATE_V6) privateV6.addSubnet(net, bits, 'ipv6')
const globalV6 = new BlockList()
globalV6.addSubnet('2000::', 3, 'ipv6')

/** Whether the public Internet routes this IP address. False for anything else. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !privateV4.check(address, 'ipv4')
  return version === 6 && globalV6.check(address, 'ipv6') && !privateV6.check(address, 'ipv6')
}

const DNS = 'https://cloudflare-dns.com/dns-query'
const TYPES = { A: 1, AAAA: 28 } as const

/**
 * The addresses of a host, over HTTPS: Workers can't query DNS directly.
 * @throws if DNS doesn't answer
 */
export async function resolveHost(fetcher: typeof fetch, host: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = []
  // One at a time, to save connections.
  for (const [name, type] of Object.entries(TYPES)) {
    const question = `${DNS}?${new URLSearchParams({ name: host, type: name })}`
    const response = await fetcher(question, { headers: { accept: 'application/dns-json' }, signal })
    if (!response.ok) throw new Error(`DNS answered HTTP ${response.status}`)
    const { Answer = [] } = (await response.json()) as { Answer?: { type: number; data: string }[] }
    found.push(...Answer.filter((record) => record.type === type).map(({ data }) => data))
  }
  return found
}
