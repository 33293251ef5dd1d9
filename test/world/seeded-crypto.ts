import crypto, { createHash, createHmac, createPublicKey, verify } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { type Random, seededRandom } from '../../testing/random.ts'

let random: Random = seededRandom(0)

/** From now on, ids, tokens and `Math.random` depend only on this seed, so that a world can be played again exactly. */
export function seedRandomness(seed: number): void {
  random = seededRandom(seed)
}

function fill<T extends ArrayBufferView>(view: T): T {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  for (let i = 0; i < bytes.length; i++) bytes[i] = random.between(0, 256)
  return view
}

function uuid() {
  const hex = Buffer.from(fill(new Uint8Array(16))).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}` as const
}

const bytesOf = (data: BufferSource) =>
  ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)

let known: { spki: Uint8Array; key: ReturnType<typeof createPublicKey> } | null = null
function publicKeyOf(spki: Uint8Array) {
  if (known?.spki !== spki)
    known = { spki, key: createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }) }
  return known.key
}

/**
 * Replaces this process's sources of randomness. Hashing becomes synchronous, so that no thread decides an order, and no
 * call runs out of real time.
 */
export function takeOverRandomness(): void {
  const web = globalThis.crypto
  AbortSignal.timeout = () => new AbortController().signal
  Math.random = () => random.next()
  web.getRandomValues = fill as typeof web.getRandomValues
  web.randomUUID = uuid
  web.subtle.digest = async (_, data) => new Uint8Array(createHash('sha256').update(bytesOf(data)).digest()).buffer
  // The only keys are those that sign Stripe's webhooks, and Amazon's, which signs what a machine is.
  web.subtle.importKey = (async (_: string, key: Uint8Array) => key) as never
  web.subtle.sign = (async (_: string, key: Uint8Array, data: Uint8Array) =>
    new Uint8Array(createHmac('sha256', key).update(data).digest()).buffer) as never
  web.subtle.verify = (async (_: unknown, key: Uint8Array, signature: Uint8Array, data: Uint8Array) =>
    verify('sha256', data, publicKeyOf(key), signature)) as never
  crypto.randomBytes = ((size: number) => fill(Buffer.alloc(size))) as typeof crypto.randomBytes
  crypto.randomUUID = uuid
  syncBuiltinESMExports()
}
