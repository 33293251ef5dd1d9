import createClient, { type Client } from 'openapi-fetch'
import type { components, paths } from './api-types.ts'

/** The shapes of the API by name, such as `Schemas['Server']`. */
export type Schemas = components['schemas']
export type ProvingGround = Client<paths>

export type Options = {
  /** The site, such as https://your-site.example */
  url: string
  /** An API token: pg_… */
  token: string
  /** How long we wait for each answer. */
  timeoutMs?: number
}

/** How often we send a call that is safe to repeat. */
const ATTEMPTS = 3

/**
 * Calls the API by method and path: `client.GET('/api/v1/servers/get_servers')`. Requests and answers have
 * types. An answer is `{data, response}`, a refusal `{error, response}`.
 *
 * If the network loses the answer to a call with an `Idempotency-Key`, we send it again. Otherwise the call throws.
 */
export function createProvingGround({ url, token, timeoutMs = 30_000 }: Options): ProvingGround {
  if (!URL.canParse(url)) throw new Error('Set url to the site, such as https://your-site.example')
  return createClient<paths>({
    baseUrl: url,
    headers: { Accept: 'application/json', Authorization: `Bearer ${token}` },
    // Following a redirect could turn a POST into a GET.
    redirect: 'manual',
    async fetch(request) {
      const attempts = request.headers.has('Idempotency-Key') ? ATTEMPTS : 1
      for (let attempt = 1; ; attempt++) {
        try {
          return await answerOf(request.clone(), timeoutMs)
        } catch (error) {
          if (attempt === attempts || request.signal.aborted) throw error
          await new Promise((done) => setTimeout(done, attempt * 500))
        }
      }
    },
  })
}

/** An answer that breaks off counts as lost. */
async function answerOf(request: Request, timeoutMs: number): Promise<Response> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)])
  const response = await fetch(request, { signal })
  return new Response((await response.text()) || null, response)
}
