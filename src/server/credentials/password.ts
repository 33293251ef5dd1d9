import { createHmac, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../domain/error.ts'
import { composed } from '../../domain/person.ts'

/** A row of OWASP's table whose memory (16 MiB) lets two run side by side in one isolate. */
const COST = { N: 16384, r: 8, p: 5 }
const KEY_BYTES = 32
const AT_ONCE = 2
const LONGEST_WAIT_MS = 5_000
/** A request that was cut off frees nothing, so a slot counts as free again by itself. */
const SLOT_LIFETIME_MS = 5_000

/** Well formed, of today's cost, and nobody's: compared with when the address is unknown, so that every sign-in costs one hash. */
const NOBODYS_HASH = `scrypt$16384$8$5$${'A'.repeat(22)}$${'A'.repeat(43)}`

export async function hashPassword(password: string, pepper: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, pepper, salt, COST)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** Always exactly one hash; `stored` is null when there is no account. */
export async function verifyPassword(password: string, pepper: string, stored: string | null): Promise<boolean> {
  const { cost, salt, key } = parse(stored ?? NOBODYS_HASH)
  const same = timingSafeEqual(await derive(password, pepper, salt, cost), key)
  return same && stored !== null
}

export function needsRehash(stored: string): boolean {
  const { cost } = parse(stored)
  return cost.N !== COST.N || cost.r !== COST.r || cost.p !== COST.p
}

function parse(stored: string) {
  const [kind, N, r, p, salt, key] = stored.split('$')
  if (kind !== 'scrypt' || !salt || !key) throw new Error('A stored password hash is not readable')
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  }
}

async function derive(password: string, pepper: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  // The same password typed on two keyboards may arrive composed differently.
  const peppered = createHmac('sha256', pepper).update(composed(password)).digest()
  const release = await takeSlot()
  try {
    return await new Promise((resolve, reject) =>
      scrypt(peppered, salt, KEY_BYTES, cost, (error, key) => (error ? reject(error) : resolve(key))),
    )
  } finally {
    release()
  }
}

let slots: { takenAt: number }[] = []

/** Waits by its own timer, never for another request's promise: workerd ends a request whose client went away. */
async function takeSlot(): Promise<() => void> {
  const since = Date.now()
  for (;;) {
    const now = Date.now()
    slots = slots.filter((slot) => now - slot.takenAt < SLOT_LIFETIME_MS)
    if (slots.length < AT_ONCE) break
    if (now - since > LONGEST_WAIT_MS)
      throw new AppError('unavailable', 'We are very busy right now. Please try again in a moment.', {
        retryable: true,
      })
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const slot = { takenAt: Date.now() }
  slots.push(slot)
  return () => {
    slots = slots.filter((other) => other !== slot)
  }
}
