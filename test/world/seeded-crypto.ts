import crypto, { createHash } from 'node:crypto'
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

/** Replaces this process's sources of randomness. Hashing becomes synchronous, so that no thread decides an order. */
export function takeOverRandomness(): void {
  const web = globalThis.crypto
  Math.random = () => random.next()
  web.getRandomValues = fill as typeof web.getRandomValues
  web.randomUUID = uuid
  web.subtle.digest = async (_, data) => {
    const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : data
    return new Uint8Array(
      createHash('sha256')
        .update(bytes as Uint8Array)
        .digest(),
    ).buffer
  }
  crypto.randomBytes = ((size: number) => fill(Buffer.alloc(size))) as typeof crypto.randomBytes
  crypto.randomUUID = uuid
  syncBuiltinESMExports()
}
