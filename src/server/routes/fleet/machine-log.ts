import { AppError } from '../../../domain/error.ts'
import { hearMachine } from '../../fleet/machines/hear.ts'
import { readRunKey } from '../../fleet/machines/run-key.ts'
import { errorBody, statusOf, toAppError } from '../../http/error-response.ts'
import { isTooFine, tooFine } from '../../http/middleware/held-bodies.ts'
import { limitOuter } from '../../http/middleware/outer-limit.ts'
import type { Context } from '../../runtime/context.ts'
import type { Env } from '../../settings/env.ts'

const MOST_BYTES = 256 * 1024

/**
 * `POST /machines/log`, apart from the app: with 10,000 machines, this is most of our traffic, and it needs neither a
 * sign-in nor the database.
 */
export async function answerMachine(ctx: Context, env: Env, request: Request): Promise<Response> {
  try {
    return Response.json(await hear(ctx, env, request), { headers: { 'Cache-Control': 'no-store' } })
  } catch (thrown) {
    const error = toAppError(thrown)
    if (error !== thrown) ctx.log('machine_failed', {}, thrown)
    const headers = { 'Cache-Control': 'no-store', ...(error.retryAfter && { 'Retry-After': `${error.retryAfter}` }) }
    return Response.json(errorBody(error), { status: statusOf(error), headers })
  }
}

async function hear(ctx: Context, env: Env, { method, headers, body }: Request) {
  if (method !== 'POST') throw new AppError('method_not_allowed', 'Machines post their log here.')
  const key = readRunKey(ctx.config.secretKey, /^Bearer (\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '')
  // A zone's machines may share an address. An expired key still says whose it was, and its machine must learn that it
  // expired.
  const caller = key?.runId ?? headers.get('cf-connecting-ip')
  await limitOuter(env, caller, (error) => ctx.log('machine_limit_failed', {}, error))
  return hearMachine(ctx, key, () => readJson(body))
}

/** @throws too_large, malformed */
async function readJson(body: ReadableStream<Uint8Array> | null): Promise<unknown> {
  const decoder = new TextDecoder()
  let text = ''
  let [reads, read] = [0, 0]
  for await (const chunk of body ?? []) {
    read += chunk.length
    reads += 1
    if (isTooFine(reads, read)) throw tooFine()
    if (read > MOST_BYTES) throw new AppError('too_large', 'A batch has at most 256 KiB. Send it in two.')
    text += decoder.decode(chunk, { stream: true })
  }
  try {
    return JSON.parse(text + decoder.decode())
  } catch (cause) {
    throw new AppError('malformed', 'The request body is not valid JSON.', { cause })
  }
}
