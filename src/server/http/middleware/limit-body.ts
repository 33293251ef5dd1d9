import type { Context as HonoContext, Next } from 'hono'
import { AppError } from '../../../domain/error.ts'
import { SECOND_MS } from '../../../domain/instant.ts'
import { readSignInToken } from '../../accounts/credentials/sign-in-token.ts'
import { findSignIn } from '../../accounts/live-sign-ins.ts'
import { connectionOf } from '../../limits/network.ts'
import type { AppEnv } from '../app-env.ts'
import { bearerOf, callerOf, LOOKS_SIGNED } from '../caller.ts'
import { readCookie } from '../cookies.ts'
import { isFormPost, mediaType, wantsPage } from '../form-post.ts'
import { factsOf } from '../matched-route.ts'
import { isOwn, refused } from './csrf.ts'
import {
  AGAIN,
  alike,
  type Coming,
  coming,
  hold,
  isTooFine,
  KINDS,
  type Kind,
  LEAST_BYTES,
  tooFine,
} from './held-bodies.ts'
import { isPlain } from './outer-limit.ts'

type Call = HonoContext<AppEnv>

/** As long as we accept a signature. */
const SIGNED_WITHIN_MS = 300 * SECOND_MS

/**
 * Reads the whole body before we check who sent it. Otherwise, a request that holds back its last byte could pass with
 * a live sign-in, and act after that sign-in has ended.
 * @throws too_large, malformed, late, too_many, unavailable
 */
export async function readBody(c: Call, next: Next): Promise<void> {
  const name = kindOf(c)
  // A refusal must know whether to answer a form, although we may never read it.
  if (isFormPost(c) && wantsPage(c) && isOwn(c)) c.set('form', new URLSearchParams())
  let body: Coming | undefined
  try {
    await within(KINDS[name], async (end) => {
      const who = name === 'file' ? await refuseStrangers(c) : connectionOf(callerOf(c).address ?? '')
      const now = Date.now()
      body = { name, who, bytes: 0, until: now + KINDS[name].ms, heardAt: now, end, isHere: false }
      const bytes = await readAll(c, body)
      const text = () => new TextDecoder().decode(bytes)
      // Where Hono keeps a body that it has read.
      Object.assign(
        c.req.bodyCache,
        name === 'file' ? { arrayBuffer: Promise.resolve(bytes) } : { text: Promise.resolve(text()) },
      )
    })
    // We hold a file until it's stored.
    if (body && name === 'file') Object.assign(body, { isHere: true, until: Date.now() + STORED_WITHIN_MS })
    else if (body) coming.delete(body)
    await next()
  } finally {
    // Here, because nothing that waits for a body that never arrives can clean up.
    if (body) coming.delete(body)
  }
}

function kindOf(c: Call): keyof typeof KINDS {
  const facts = factsOf(c)
  if (facts?.takesFile && mediaType(c) === 'multipart/form-data' && bearerOf(c) === null) return 'file'
  if (facts?.signedBySender && isSignedNow(c)) return 'event'
  return facts?.countsCaller && isPlain(c) ? 'machine' : 'text'
}

/** Stripe signs each try separately. */
function isSignedNow(c: Call): boolean {
  const signature = c.req.header('Stripe-Signature') ?? ''
  const signedAt = Number(/^t=(\d+)/.exec(signature)?.[1]) * SECOND_MS
  return LOOKS_SIGNED.test(signature) && Math.abs(c.var.ctx.now() - signedAt) < SIGNED_WITHIN_MS
}

const LATE = 'Your request took too long to arrive. Please try again.'

/** @param work gets what ends it at once @throws late */
async function within({ ms }: Kind, work: (end: Coming['end']) => Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let end: Coming['end'] = () => {}
  const late = new Promise<never>((_, reject) => {
    end = (why = LATE) => reject(new AppError('late', why))
    timer = setTimeout(end, ms)
  })
  await Promise.race([work(end), late]).finally(() => clearTimeout(timer))
}

/** The bucket gets a minute. */
const STORED_WITHIN_MS = 90 * SECOND_MS

const lengthOf = (c: Call, most: number) => Number(c.req.header('Content-Length') ?? most)

/** @throws too_large, too_many, malformed, late, unavailable */
async function readAll(c: Call, body: Coming): Promise<ArrayBuffer> {
  const { most, drained } = KINDS[body.name]
  const stream = c.req.raw.body
  try {
    if (!stream || lengthOf(c, most) > most) throw tooLarge(body)
    if (body.name === 'file') replaceOlder(body)
    return await collect(stream, body)
  } catch (error) {
    await drain(stream, drained)
    throw error
  }
}

/** A body's announced length costs nothing until it arrives. @throws too_large, malformed, late, unavailable */
async function collect(stream: ReadableStream<Uint8Array>, body: Coming): Promise<ArrayBuffer> {
  const { most } = KINDS[body.name]
  const reader = stream.getReader()
  try {
    let [bytes, length] = [new Uint8Array(hold(body, LEAST_BYTES)), 0]
    for (let reads = 1; ; reads++) {
      const { done, value } = await readFrom(reader)
      // Holding more for a body that we have ended would count it again.
      if (!coming.has(body)) throw new AppError('late', LATE)
      if (done) return bytes.buffer.transfer(length)
      body.heardAt = Date.now()
      const start = length
      length += value.length
      if (length > most) throw tooLarge(body)
      if (isTooFine(reads, length)) throw tooFine()
      if (length > bytes.length) {
        const larger = new Uint8Array(hold(body, Math.min(most, Math.max(length, 2 * bytes.length))))
        larger.set(bytes.subarray(0, start))
        bytes = larger
      }
      bytes.set(value, start)
    }
  } finally {
    reader.releaseLock()
  }
}

/** @throws malformed if its sender is gone: neither they nor the operator need an answer */
function readFrom(reader: ReadableStreamDefaultReader<Uint8Array>) {
  return reader.read().catch(() => {
    throw new AppError('malformed', 'Your request broke off on its way. Please send it again.')
  })
}

const tooLarge = ({ name }: Coming) => new AppError('too_large', KINDS[name].tooLarge)

/** A person's newer form with a file replaces one that is on its way, which they may have stopped. @throws too_many */
function replaceOlder(body: Coming): void {
  for (const one of alike(body).filter(({ who }) => who === body.who)) {
    if (one.isHere)
      throw new AppError('too_many', "We're still saving your last file. Please try again in a few seconds.", AGAIN)
    coming.delete(one)
    one.end('You sent another file before this one had arrived. Please send one at a time.')
  }
}

/**
 * Only people who are signed in can make us hold megabytes. Once everything has arrived, we check again.
 * @returns who it is @throws csrf, unauthenticated
 */
async function refuseStrangers(c: Call): Promise<string> {
  if (!isOwn(c)) throw refused()
  const cookie = readCookie(c, 'sign_in')
  c.set('form', new URLSearchParams())
  const id = cookie ? await readSignInToken(c.var.ctx, cookie) : null
  const found = id && (await findSignIn(c.var.ctx, id, []))
  if (found) return found.signIn.user.id
  await drain(c.req.raw.body, KINDS.file.drained)
  throw new AppError('unauthenticated', 'Please sign in first.')
}

/** Answering before the body is read would drop the connection, and the client's next request on it. */
async function drain(body: ReadableStream<Uint8Array> | null, most: number): Promise<void> {
  if (!body || body.locked) return
  const reader = body.getReader()
  for (let [reads, read] = [1, 0]; read < most && !isTooFine(reads, read); reads++) {
    const { done, value } = await readFrom(reader)
    if (done) return
    read += value.length
  }
  await reader.cancel()
}
