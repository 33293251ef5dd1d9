import type { Context as HonoContext } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import { AppError } from '../../../domain/error.ts'
import { readSignInToken } from '../../accounts/credentials/sign-in-token.ts'
import { findSignIn } from '../../accounts/live-sign-ins.ts'
import type { AppEnv } from '../app-env.ts'
import { bearerOf } from '../caller.ts'
import { readCookie } from '../cookies.ts'
import { mediaType } from '../form-post.ts'
import { factsOf } from '../matched-route.ts'
import { isOwn, refused } from './csrf.ts'

const MAX_BODY_BYTES = 64 * 1024
/** How much of an oversized body we read and discard. */
const DRAINED_BYTES = 1024 * 1024

const refuseLarge = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: async (c) => {
    await drain(c.req.raw.body)
    throw new AppError('too_large', 'The request is larger than 64 KiB.')
  },
})

/** What Stripe signs. A scanner that posts anything else says nothing about our secret. */
export const LOOKS_SIGNED = /^t=\d+,(.+,)?v1=[\da-f]{64}(,|$)/

/** An event holds its whole object: an invoice with many lines, before and after. */
const refuseLargeEvent = bodyLimit({
  maxSize: DRAINED_BYTES,
  onError: async (c) => {
    await drain(c.req.raw.body)
    throw new AppError('too_large', 'The event is larger than 1 MiB.')
  },
})

/** Browsers without script send files through us; with it, straight to the bucket. */
const MAX_FILE_FORM_BYTES = 10_000_000

/** A browser shows our answer only once it has sent its file. */
const DRAINED_FILE_BYTES = 100_000_000

const refuseLargeFile = bodyLimit({
  maxSize: MAX_FILE_FORM_BYTES,
  onError: async (c: HonoContext<AppEnv>) => {
    await drain(c.req.raw.body, DRAINED_FILE_BYTES)
    // It answers a form, although we read none of it.
    c.set('form', new URLSearchParams())
    throw new AppError(
      'too_large',
      'Without JavaScript, a file can have 10 MB. Turn on JavaScript, or use the command line, to upload larger files.',
    )
  },
})

/**
 * Reads the whole body before we check who sent it. Otherwise a request that holds back its last byte passes with a
 * live sign-in, and still acts after the sign-in has ended.
 */
export const readBody = createMiddleware<AppEnv>(async (c, next) => {
  const facts = factsOf(c)
  const takesFile = facts?.takesFile && mediaType(c) === 'multipart/form-data' && bearerOf(c) === null
  const isEvent = facts?.signedBySender && LOOKS_SIGNED.test(c.req.header('Stripe-Signature') ?? '')
  if (takesFile) await refuseStrangers(c)
  return (takesFile ? refuseLargeFile : isEvent ? refuseLargeEvent : refuseLarge)(c, async () => {
    if (c.req.raw.body) await (takesFile ? c.req.arrayBuffer() : c.req.text())
    await next()
  })
})

/**
 * Nobody but people who are signed in makes us hold megabytes. What is checked here is checked again once all of it is
 * there.
 * @throws csrf, unauthenticated
 */
async function refuseStrangers(c: HonoContext<AppEnv>): Promise<void> {
  if (!isOwn(c)) throw refused()
  const cookie = readCookie(c, 'sign_in')
  const id = cookie ? await readSignInToken(c.var.ctx, cookie) : null
  if (id && (await findSignIn(c.var.ctx, id, []))) return
  await drain(c.req.raw.body, DRAINED_FILE_BYTES)
  c.set('form', new URLSearchParams())
  throw new AppError('unauthenticated', 'Please sign in first.')
}

/** Answering before the body is read would drop the connection, and the client's next request on it. */
async function drain(body: ReadableStream<Uint8Array> | null, most = DRAINED_BYTES): Promise<void> {
  if (!body || body.locked) return
  const reader = body.getReader()
  for (let read = 0; read < most; ) {
    const { done, value } = await reader.read()
    if (done) return
    read += value.length
  }
  await reader.cancel()
}
