import { OUTER_PERIOD_S } from '../http/middleware/outer-limit.ts'

/** What visitors read when they don't get through, and in JSON, what programs do. */
const REFUSALS = {
  unknown: { status: 404, title: 'No server here', sentence: 'No server has this address.' },
  bad_link: {
    status: 404,
    title: 'This link no longer works',
    sentence: 'It was already used or has expired. Ask the owner of the server for a new one.',
  },
  no_cookies: {
    status: 400,
    title: 'Allow cookies here',
    sentence:
      'Your browser didn’t keep this address’s cookie, so we can’t tell who you are. Allow cookies, and open it again.',
  },
  over: {
    status: 410,
    title: 'This server has stopped',
    sentence: 'Its address ended with it. The next start gets a new one.',
  },
  stranger: {
    status: 401,
    title: 'Not signed in',
    sentence: 'Send an API token of the owner that may operate: Authorization: Bearer pg_…',
  },
  ended: {
    status: 401,
    title: 'Your access ended',
    sentence: 'We ended this request, because the server stopped, or the link, sign-in, or token is no longer valid.',
  },
  too_many: {
    status: 429,
    title: 'Too many requests',
    sentence: 'Too many requests from your network. Please try again in a minute.',
  },
  full: {
    status: 429,
    title: 'Too many at once',
    sentence: 'Too many requests to this server are open at once. Try again when some have finished.',
  },
  closed: {
    status: 403,
    title: 'This account is suspended',
    sentence: 'Its server is closed to everyone until the suspension is lifted.',
  },
  foreign: {
    status: 403,
    title: 'Not from this page',
    sentence: "Another site's page can't use your access to this server.",
  },
  service_worker: {
    status: 403,
    title: 'No service workers',
    sentence: 'Service workers are switched off here: they would outlive the server.',
  },
  starting: { status: 503, title: 'Still starting', sentence: "Nothing answers on this server yet. It's starting." },
  not_now: { status: 405, title: 'Open this link', sentence: 'This address only works in a browser that opens it.' },
  unmeasured: {
    status: 411,
    title: 'Length required',
    sentence: 'A GET or HEAD request with a body needs a Content-Length. Send one, or use POST.',
  },
  guest_body: {
    status: 403,
    title: 'No body from guests',
    sentence: "A guest's request can have a body only with methods such as POST and PUT.",
  },
  unreachable: { status: 502, title: 'No answer', sentence: 'Nothing answers on this port of the server.' },
  failed: {
    status: 503,
    title: 'Please try again',
    sentence: 'Something went wrong on our side. Please try again in a moment.',
  },
} as const

export type Refusal = keyof typeof REFUSALS

const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

const STYLE = `body{margin:0;min-height:100vh;display:grid;place-content:center;padding:24px;font:16px/1.5 system-ui,sans-serif;
background:#f3f6f5;color:#10201f}h1{font-size:22px;line-height:1.3;margin:0 0 8px}p{margin:0;max-width:34em;color:#52605e}
a{color:inherit}@media(prefers-color-scheme:dark){body{background:#0b1413;color:#e6efed}p{color:#a3b5b1}}`

type Page = { title: string; head?: string; body: string; policy?: string; status?: number; headers?: object }

/** @param policy by default a sandbox: the page's address may hold a ticket or a pass, next to a stranger's scripts */
export function pageOf({ title, head = '', body, policy = 'sandbox', status = 200, headers }: Page): Response {
  const all = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style>${head}`
  return new Response(`<!doctype html><html lang="en"><head>${all}</head>${body}</html>`, {
    status,
    headers: {
      ...HEADERS,
      'content-security-policy': `${POLICY}; ${policy}`,
      'content-type': 'text/html; charset=utf-8',
      ...headers,
    },
  })
}

/** As an attribute in double quotes has it. */
export const attribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/** @param own where the server's owner gets in, in case we take them for a guest */
export function refuse(why: Refusal, own?: string): Response {
  const { status, title, sentence } = REFUSALS[why]
  if (why === 'stranger')
    return Response.json(
      { code: 'unauthenticated', error: sentence, message: sentence, errors: [sentence] },
      { status, headers: { ...HEADERS, 'content-security-policy': POLICY, 'www-authenticate': 'Bearer' } },
    )
  const headers: Record<string, string> = {}
  if (why === 'starting' || why === 'failed') headers['retry-after'] = '2'
  if (why === 'full') headers['retry-after'] = '5'
  if (why === 'too_many') headers['retry-after'] = String(OUTER_PERIOD_S)
  const link = own ? `<p><a href="${attribute(own)}">It's my server</a></p>` : ''
  return pageOf({ title, body: `<body><h1>${title}</h1><p>${sentence}</p>${link}</body>`, status, headers })
}
