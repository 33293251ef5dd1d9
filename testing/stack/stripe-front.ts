import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

/**
 * In front of stripe-mock, which checks each request against Stripe's published description and forgets it: remembers
 * what was created, and lists that.
 */
export function stripeFront(mock: string) {
  const made: Record<string, { posted: URLSearchParams; answered: Record<string, unknown> }[]> = {}
  return {
    /** What was posted to a list, in order. */
    posted: (path: string) => (made[path] ?? []).map(({ posted }) => Object.fromEntries(posted)),
    async answer(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
      const { pathname, searchParams } = new URL(asked.url ?? '', mock)
      const body = await text(asked)
      const headers = {
        authorization: String(asked.headers.authorization),
        'content-type': 'application/x-www-form-urlencoded',
      }
      const method = asked.method ?? 'GET'
      const mocked = await fetch(`${mock}${asked.url}`, { method, headers, ...(method === 'POST' && { body }) })
      const told = (await mocked.json()) as Record<string, unknown>
      answer.writeHead(mocked.status, { 'Content-Type': 'application/json' })
      if (!mocked.ok) return void answer.end(JSON.stringify(told))
      const list = made[pathname] ?? []
      made[pathname] = list
      if (method === 'POST') {
        const posted = new URLSearchParams(body)
        list.push({ posted, answered: { ...told, ...objectOf(posted), id: `${told.id}_${list.length}` } })
        return void answer.end(JSON.stringify({ ...list.at(-1)?.answered, secret: 'whsec_of_the_mock' }))
      }
      // Saved by hand in the dashboard.
      if (pathname === '/v1/billing_portal/configurations')
        list.push({ posted: new URLSearchParams(), answered: PORTAL })
      const key = searchParams.get('lookup_keys[0]')
      const data = list.map(({ answered }) => answered).filter(({ lookup_key }) => key === null || lookup_key === key)
      answer.end(JSON.stringify({ object: 'list', url: pathname, has_more: false, data }))
    },
  }
}

const PORTAL = { features: { customer_update: { enabled: true, allowed_updates: ['name', 'address', 'tax_id'] } } }

/** Only the fields that the product reads back. */
function objectOf(posted: URLSearchParams): Record<string, unknown> {
  return {
    ...Object.fromEntries(posted),
    active: true,
    status: 'enabled',
    unit_amount: Number(posted.get('unit_amount')),
    recurring: { interval: posted.get('recurring[interval]') },
    enabled_events: [...posted].filter(([name]) => name.startsWith('enabled_events[')).map(([, event]) => event),
  }
}
