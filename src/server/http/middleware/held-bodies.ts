import { AppError } from '../../../domain/error.ts'
import { SECOND_MS } from '../../../domain/instant.ts'
import { MOST_PROOF_BYTES } from './outer-limit.ts'

const [KB, MB] = [1024, 1024 * 1024]
/**
 * `ms`: how long all of it may take to arrive. `ofOne`, `ofAll`: the most that this isolate holds at once, from one
 * address (files: from one person) and from everyone. Beyond that, we end the one that has waited longest; of files,
 * the slowest. Most bodies arrive at once, so idle connections keep no one out. Bodies on their way take up to 36 of
 * the isolate's 128 MB, not counting what handlers parse.
 */
export type Kind = { most: number; ms: number; ofOne: number; ofAll: number; drained: number; tooLarge: string }

export const KINDS = {
  text: {
    most: 64 * KB,
    ms: 20 * SECOND_MS,
    ofOne: MB,
    ofAll: 8 * MB,
    drained: MB,
    tooLarge: 'The request is larger than 64 KiB.',
  },
  /** A proof and a few words, from machines that may share an address. */
  machine: {
    most: MOST_PROOF_BYTES,
    ms: 5 * SECOND_MS,
    ofOne: 2 * MB,
    ofAll: 4 * MB,
    drained: MB,
    tooLarge: 'The request is larger than 8 KiB.',
  },
  /** An event holds its whole object: an invoice with many lines, before and after. */
  event: {
    most: MB,
    ms: 20 * SECOND_MS,
    ofOne: 2 * MB,
    ofAll: 4 * MB,
    drained: MB,
    tooLarge: 'The event is larger than 1 MiB.',
  },
  /**
   * Browsers without script send files through us, one at a time, even over slow lines. With script, they send them
   * straight to the bucket. A browser shows our answer only once it has sent the file.
   */
  file: {
    most: 10_000_000,
    ms: 300 * SECOND_MS,
    ofOne: 10_000_000,
    ofAll: 20_000_000,
    drained: 100_000_000,
    tooLarge:
      'Without JavaScript, a file can have 10 MB. Turn on JavaScript, or use the command line, to upload larger files.',
  },
} satisfies Record<string, Kind>

/** What we hold, oldest first. A broken connection may never be reported, so no body counts for longer than it may take. */
export const coming = new Set<Coming>()

export type Coming = {
  name: keyof typeof KINDS
  who: string
  /** Bytes allocated for it. */
  bytes: number
  until: number
  /** When a part of it last arrived. */
  heardAt: number
  end: (why?: string) => void
  /** All of it has arrived and is being stored. */
  isHere: boolean
}

/** A request costs this much, even without a body. */
export const LEAST_BYTES = 16 * KB
/**
 * Counts what we allocate for a body. The others make room, except files that are being stored.
 * @returns how much it got @throws unavailable
 */
export function hold(body: Coming, bytes: number): number {
  const { ofOne, ofAll } = KINDS[body.name]
  const others = () => alike(body).filter((one) => one !== body)
  if (bytesOf(others().filter(({ isHere }) => isHere)) + bytes > ofAll)
    throw new AppError(
      'unavailable',
      "We're receiving more than we can handle. Please try again in a few seconds.",
      AGAIN,
    )
  body.bytes = bytes
  coming.add(body)
  endFirst(
    others().filter(({ who }) => who === body.who),
    ofOne - bytes,
  )
  endFirst(body.name === 'file' ? others().sort((a, b) => paceOf(a) - paceOf(b)) : others(), ofAll - bytes)
  return bytes
}

export const AGAIN = { retryAfter: 5 }

const SILENT_MS = 20 * SECOND_MS

/** How fast it arrives. Zero once it's silent: a body may arrive quickly and then stay open. */
function paceOf({ name, bytes, until, heardAt }: Coming): number {
  const now = Date.now()
  return now - heardAt > SILENT_MS ? 0 : bytes / (1 + KINDS[name].ms - (until - now))
}

/** What we hold of this kind. */
export function alike({ name }: Coming): Coming[] {
  const now = Date.now()
  for (const one of coming) if (one.until <= now) coming.delete(one)
  return [...coming].filter((one) => one.name === name)
}

const bytesOf = (bodies: Coming[]) => bodies.reduce((sum, { bytes }) => sum + bytes, 0)

/** Ends bodies until the rest have no more than that. */
function endFirst(bodies: Coming[], most: number): void {
  let left = bytesOf(bodies)
  for (const one of bodies) {
    if (left <= most) return
    if (one.isHere) continue
    left -= one.bytes
    coming.delete(one)
    one.end()
  }
}

/** Each chunk costs us a read, however small: byte by byte, 64 KiB would take a second. */
export const isTooFine = (reads: number, bytes: number) => reads > 1024 + bytes / 256

export const tooFine = () =>
  new AppError('too_large', 'Your request arrives in too many small pieces. Please send larger ones.')
