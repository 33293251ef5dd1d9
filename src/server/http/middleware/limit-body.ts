import { bodyLimit } from 'hono/body-limit'
import { AppError } from '../../../domain/error.ts'

const MAX_BODY_BYTES = 64 * 1024
/** How much of an oversized body we read and discard. */
const DRAINED_BYTES = 1024 * 1024

export const limitBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: async (c) => {
    await drain(c.req.raw.body)
    throw new AppError('too_large', 'The request is larger than 64 KiB.')
  },
})

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
