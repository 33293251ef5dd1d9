import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import { AppError } from '../../../domain/error.ts'
import type { AppEnv } from '../app-env.ts'

const MAX_BODY_BYTES = 64 * 1024
/** What is read and thrown away of a body that is too large. */
const DRAINED_BYTES = 1024 * 1024

const refuseLarge = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: async (c) => {
    await drain(c.req.raw.body)
    throw new AppError('too_large', 'The request is larger than 64 KiB.')
  },
})

/**
 * Reads the whole body before anybody looks who is asking: else a request that holds its last byte back is let in now,
 * and still acts after its sign-in has ended.
 */
export const readBody = createMiddleware<AppEnv>((c, next) =>
  refuseLarge(c, async () => {
    if (c.req.raw.body) await c.req.text()
    await next()
  }),
)

/** An answer before the body was read ends the connection, and with it the client's next request on it. */
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
