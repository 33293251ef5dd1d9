import { createHash } from 'node:crypto'
import { type Door, doorUrl, ENTER_PATH } from '../../domain/door.ts'
import { attribute, pageOf } from './refusals.ts'

/** If one port's host doesn't answer, the others still open. */
const SCRIPT = `const { hosts, to } = document.body.dataset
const enter = async (host) => fetch(host, { mode: 'no-cors', credentials: 'include', signal: AbortSignal.timeout(3000) })
Promise.allSettled(hosts.split(' ').map(enter)).then(() => location.replace(to))`
const SCRIPT_HASH = createHash('sha256').update(SCRIPT).digest('base64')

/**
 * Lets the browser into all of the run's ports before it shows a page, because the page's fetches and sockets can't get
 * in on their own. Without script, a browser gets in when it opens a port.
 * @param to a path of this host
 */
export function openPorts(door: Door, label: string, to: string): Response {
  const urls = door.webPorts.map((port) => new URL(ENTER_PATH, doorUrl(door, label, port)))
  const next = attribute(to)
  const hosts = attribute(urls.map(({ href }) => href).join(' '))
  const origins = urls.map(({ origin }) => origin).join(' ')
  return pageOf({
    title: 'Opening your simulator…',
    head: `<noscript><meta http-equiv="refresh" content="0;url=${next}"></noscript>`,
    body: `<body data-to="${next}" data-hosts="${hosts}"><h1>Opening your simulator…</h1><script>${SCRIPT}</script></body>`,
    policy: `script-src 'sha256-${SCRIPT_HASH}'; connect-src 'self' ${origins}`,
    // The main host allows what its own pages request.
    headers: { 'referrer-policy': 'strict-origin' },
  })
}
