import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import { AppError } from '../../../domain/error.ts'
import type { AppEnv } from '../app-env.ts'

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

/**
 * Reads the whole body before we check who sent it. Otherwise a request that holds back its last byte passes with a
 * live sign-in, and still acts after the sign-in has ended.
 */
export const readBody = createMiddleware<AppEnv>((c, next) =>
  refuseLarge(c, async () => {
    if (c.req.raw.body) await c.req.text()
    await next()
  }),
)

/** Answering before the body is read would drop the connection, and the client's next request on it. */
async function drain(body: ReadableStream<Uint8Array> | null): Promise<void> {
  if (!body || body.locked) return
  const reader = body.getReader()
  for (let read = 0; read < DRAINED_BYTES; ) {
    const { done, value } = await reader.read()
    if (done) return
    read += value.length
  }
  await reader.cancel()
}
