/**
 * The machines' private network, as a Worker under the binding's own name. A machine at 10.64.0.1 listens on 127.64.0.1
 * here, which it sees in `Host`; we map the headers that name an address. It reaches nothing but machines.
 */
export const FLEET_NETWORK = `import { connect } from 'cloudflare:sockets'
const LOCAL = /^10(\\.(?:6[4-9]|[7-9]\\d|1[01]\\d|12[0-7])\\.\\d+\\.\\d+)$/
const LINKS = ['location', 'content-location', 'refresh', 'link']
function here(address) {
  const [, rest] = LOCAL.exec(address) ?? []
  if (!rest) throw new Error('No machine has the address ' + address)
  return '127' + rest
}
function renamed(given, names, from, to) {
  const headers = new Headers(given)
  for (const name of names)
    if (headers.has(name)) headers.set(name, headers.get(name).replaceAll('//' + from, '//' + to))
  return headers
}
export default {
  async fetch(request) {
    const url = new URL(request.url)
    const address = url.hostname
    url.hostname = here(address)
    const headers = renamed(request.headers, ['origin', 'referer', 'destination'], address, url.hostname)
    const answer = await fetch(new Request(url, new Request(request, { headers, redirect: 'manual' })), { encodeResponseBody: 'manual' })
    if (!LINKS.some((name) => answer.headers.has(name))) return answer
    const { status, statusText } = answer
    return new Response(answer.body, { status, statusText, headers: renamed(answer.headers, LINKS, url.hostname, address), encodeBody: 'manual' })
  },
  async connect(socket) {
    const { localAddress } = await socket.opened
    const [address, port] = localAddress.split(':')
    const machine = connect(here(address) + ':' + port, { allowHalfOpen: true })
    // Each half ends on its own.
    await Promise.allSettled([socket.readable.pipeTo(machine.writable), machine.readable.pipeTo(socket.writable)])
  },
}`

/** The same for code that runs in Node under Vite: it only asks whether a machine answers. */
export const nodeFleetNetwork = {
  fetch(address: string, request: RequestInit): Promise<Response> {
    const url = new URL(address)
    url.hostname = url.hostname.replace(/^10\./, '127.')
    return fetch(url, request)
  },
}
