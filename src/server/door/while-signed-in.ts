import type { Context as HonoContext } from 'hono'
import { type AppEnv, signedIn } from '../http/app-env.ts'
import { whileAllowed } from './hold.ts'

/** An answer of the site that readers may read slowly: it breaks off once their access ends. */
export function whileSignedIn(c: HonoContext<AppEnv>, parts: AsyncIterator<string>): ReadableStream<Uint8Array> {
  const { user, id, scope } = signedIn(c)
  const pass = { kind: scope === null ? 'sign_in' : 'token', id } as const
  const encoder = new TextEncoder()
  let allowed: ReturnType<typeof whileAllowed> | null = null
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // A HEAD request reads nothing.
        if (!allowed) {
          allowed = whileAllowed(
            () => c.env.DOOR_KEEPER.getByName(user.id),
            { runId: '', pass, what: 'site' },
            c.req.raw.signal,
          )
          allowed.signal.addEventListener('abort', () => controller.error(new Error('access ended')))
        }
        try {
          const { value, done } = await parts.next()
          if (allowed.signal.aborted) return allowed.release()
          if (!done) return controller.enqueue(encoder.encode(value))
          controller.close()
          allowed.release()
        } catch (error) {
          allowed.release()
          throw error
        }
      },
      cancel: () => allowed?.release(),
    },
    { highWaterMark: 0 },
  )
}
