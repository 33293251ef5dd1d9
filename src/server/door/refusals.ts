import { OUTER_PERIOD_S } from '../http/middleware/outer-limit.ts'

/** What a visitor reads who doesn't get through, and programs in JSON. */
const REFUSALS = {
  unknown: { status: 404, title: 'No server here', sentence: 'No server has this address.' },
  bad_link: {
    status: 404,
    title: 'This link no longer works',
    sentence: 'It was used already, or it ended. Ask the owner of the server for a new one.',
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
    sentence: 'This request ended with it: the server stopped, or the link, sign-in, or token no longer counts.',
  },
  too_many: {
    status: 429,
    title: 'Too many requests',
    sentence: 'Too many requests from your network. Please try again in a minute.',
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
    title: 'Say how long it is',
    sentence: 'A body of a GET or HEAD request passes with its length only. Send a Content-Length, or use POST.',
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
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const STYLE = `body{margin:0;min-height:100vh;display:grid;place-content:center;padding:24px;font:16px/1.5 system-ui,sans-serif;
background:#f3f6f5;color:#10201f}h1{font-size:22px;line-height:1.3;margin:0 0 8px}p{margin:0;max-width:34em;color:#52605e}
@media(prefers-color-scheme:dark){body{background:#0b1413;color:#e6efed}p{color:#a3b5b1}}`

export function refuse(why: Refusal): Response {
  const { status, title, sentence } = REFUSALS[why]
  const headers: Record<string, string> = { ...HEADERS }
  if (why === 'starting' || why === 'failed') headers['retry-after'] = '2'
  if (why === 'too_many') headers['retry-after'] = String(OUTER_PERIOD_S)
  if (why === 'stranger') {
    headers['www-authenticate'] = 'Bearer'
    return Response.json(
      { code: 'unauthenticated', error: sentence, message: sentence, errors: [sentence] },
      { status, headers },
    )
  }
  headers['content-type'] = 'text/html; charset=utf-8'
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style>`
  return new Response(
    `<!doctype html><html lang="en"><head>${head}</head><body><h1>${title}</h1><p>${sentence}</p></body></html>`,
    {
      status,
      headers,
    },
  )
}
