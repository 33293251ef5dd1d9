import type { Account } from './account.ts'
import { API_VERSION } from './account.ts'
import { Failure } from './failure.ts'
import { parseForm } from './form.ts'
import { type Answer, remember, replay } from './idempotency.ts'
import { findCall } from './resources.ts'

export type ApiRequest = {
  method: string
  path: string
  query: string
  body: string
  authorization: string | undefined
  idempotencyKey: string | undefined
}

export type ApiAnswer = Answer & { headers: Record<string, string> }

/** Checks the API key, then replays or runs the call. Stays synchronous to keep calls from interleaving. */
export function answerApi(account: Account, request: ApiRequest): ApiAnswer {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'request-id': account.newId('req'),
    'stripe-version': API_VERSION,
  }
  try {
    if (!/^(Bearer|Basic) \S+/.test(request.authorization ?? ''))
      throw new Failure(401, 'invalid_request_error', 'You did not provide an API key.')
    const found = findCall(request.method, request.path)
    if (!found)
      throw new Failure(
        404,
        'invalid_request_error',
        `Unrecognized request URL (${request.method}: ${request.path}). This stand-in knows only what the product uses.`,
      )
    const { key, asked } = keyOf(request)
    const before = key ? replay(account, key, asked) : null
    if (before) return { ...before, headers: { ...headers, 'idempotent-replayed': 'true' } }
    const params = parseForm(request.method === 'GET' ? request.query : request.body)
    const answer = outcomeOf(() => found.call(account, params, found.id))
    if (key) remember(account, key, asked, answer)
    return { ...answer, headers: key ? { ...headers, 'idempotency-key': key } : headers }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { status: error.status, body: JSON.stringify(error.body), headers }
  }
}

type Keyed = Pick<ApiRequest, 'method' | 'path' | 'body' | 'idempotencyKey'>

const keyOf = ({ method, path, body, idempotencyKey }: Keyed) => ({
  key: method === 'POST' ? idempotencyKey : undefined,
  asked: `${method} ${path} ${body}`,
})

/** A fault of Stripe's own, which it keeps under the call's key and repeats for a day, as it does any other answer. */
export function failOnce(account: Account, request: Keyed): ApiAnswer {
  const { key, asked } = keyOf(request)
  const body = JSON.stringify({ error: { type: 'api_error', message: 'An error occurred (injected).' } })
  const answer = { status: 500, body }
  if (key) remember(account, key, asked, answer)
  return { ...answer, headers: { 'content-type': 'application/json' } }
}

/** Stripe keeps a declined card's answer under the call's key, like a success. It forgets calls that it never began. */
function outcomeOf(call: () => unknown): Answer {
  try {
    return { status: 200, body: JSON.stringify(call()) }
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 402) throw error
    return { status: 402, body: JSON.stringify(error.body) }
  }
}
