import { type Door, doorUrl } from '../../domain/door.ts'
import { SERVER_WEB_PORT } from '../../domain/server.ts'

/** A run's host at the door, and its machine's address, which take each other's place in both directions. */
export type Crossing = { door: Door; label: string; port: number | null; address: string; cookie: string }

/** What follows the host. `pathname` and `search` lose a lone question mark. */
export const pathOf = ({ href, origin }: URL): string => href.slice(origin.length)

const ABSOLUTE = /^(https?:)?\/\/[^/?#]/i

/**
 * The address at the door of what the machine calls by its own: this port, or another that is open. Anything else is
 * the browser's to follow, letter for letter.
 */
export function atDoor({ door, label, address }: Crossing, given: string): string {
  const url = ABSOLUTE.test(given) && URL.canParse(given, 'http://x') ? new URL(given, 'http://x') : null
  if (!url || url.hostname !== new URL(`http://${address}`).hostname) return given
  const port = Number(url.port)
  if (port !== SERVER_WEB_PORT && !door.webPorts.includes(port)) return given
  const own = doorUrl(door, label, port === SERVER_WEB_PORT ? null : port)
  return own.slice(0, -1) + given.replace(/^(https?:)?\/\/[^/?#\\]*/i, '').replace(/^(?=[?#])/, '/')
}

/** The same for a text that names addresses among other words, like `Refresh: 5; url=…` and `Link: <…>; rel=next`. */
export const allAtDoor = (crossing: Crossing, text: string): string =>
  text.replace(/(?<![\w/:])(?:https?:)?\/\/[^\s"'<>,;]+/gi, (url) => atDoor(crossing, url))

/** What the machine calls this address of its own host, or null for any other. */
export function onMachine({ door, label, port, address }: Crossing, given: string): URL | null {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url?.origin !== new URL(doorUrl(door, label, port)).origin) return null
  return new URL(pathOf(url), `http://${address}`)
}
