import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { FLEET_NETWORK } from '../dev/fleet-network.ts'
import { freePort } from '../dev/free-port.ts'
import { readWranglerConfig } from '../dev/wrangler-config.ts'

/** Passes on whatever comes, and checks nothing. An upgrade of /tcp leads to the machine's TCP port. */
const PLAIN = `export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url)
    if (pathname !== '/tcp') return env.FLEET.fetch('http://' + env.WEB + pathname, request)
    const { 0: near, 1: far } = new WebSocketPair()
    far.accept()
    far.binaryType = 'arraybuffer'
    const socket = env.FLEET.connect(env.TCP, { allowHalfOpen: true })
    const writer = socket.writable.getWriter()
    const reader = socket.readable.getReader({ mode: 'byob' })
    far.addEventListener('message', ({ data }) => void writer.write(new Uint8Array(data)))
    far.addEventListener('close', () => socket.close())
    const pump = async () => {
      for (;;) {
        const { done, value } = await reader.read(new Uint8Array(256 * 1024))
        if (done) return far.close(1000)
        far.send(value)
      }
    }
    void pump().catch(() => {})
    return new Response(null, { status: 101, webSocket: near })
  },
}`
const PASS_ON = 'export default { fetch: (request, env) => env.APP.fetch(request) }'

/**
 * As many processes and Workers on the way to a machine as with our door and \`forward\` here, but none of our code. What
 * it adds is what this machine's runtime costs.
 */
export async function startPlainDoor(machine: string, ports: { web: number; tcp: number }) {
  const port = await freePort()
  const address = machine.replace(/^127\./, '10.')
  const worker = (name: string, contents: string, serviceBindings = {}, bindings = {}) => ({
    name,
    compatibilityDate: readWranglerConfig().compatibilityDate,
    modules: [{ type: 'ESModule' as const, path: `${name}.js`, contents }],
    serviceBindings,
    bindings,
  })
  const mf = new Miniflare(
    convertV4MiniflareOptions({
      host: '127.0.0.1',
      port,
      cf: false,
      workers: [
        worker('site', PASS_ON, { APP: 'plain' }),
        worker('plain', PLAIN, { FLEET: 'fleet' }, { WEB: `${address}:${ports.web}`, TCP: `${address}:${ports.tcp}` }),
        worker('fleet', FLEET_NETWORK),
      ],
    }),
  )
  await mf.ready
  const relayPort = await freePort()
  const relay = spawn(process.execPath, [
    join(import.meta.dirname, 'node/plain-relay.ts'),
    String(relayPort),
    `ws://127.0.0.1:${port}/tcp`,
  ])
  if (relay.stdout) await once(relay.stdout, 'data')
  return {
    port,
    relayPort,
    async close() {
      relay.kill()
      await mf.dispose()
    },
  }
}
