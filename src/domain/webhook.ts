import * as v from 'valibot'
import { rule } from './form.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './instant.ts'
import { isOwnMachine, isPublicName } from './own-machine.ts'
import { CURRENT_PASSWORD_REQUIRED } from './user.ts'

/** What a webhook can report, in the page's order. */
export const EVENT_TYPES = [
  'server.running',
  'server.ending',
  'server.ending_soon',
  'server.exited',
  'server.stopped',
  'server.failed',
  'budget.reached',
  'bill.closed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** How many endpoints an account may have. */
export const MAX_WEBHOOKS = 5
/** How many deliveries of an endpoint we keep and show, besides those that still wait. */
export const KEPT_DELIVERIES = 100
/** For how long a replaced secret keeps signing. */
export const SECRET_OVERLAP_MS = DAY_MS
/** How many secrets may sign at a time, including the newest. */
export const MAX_SECRETS = 4
const MAX_URL = 500

// Stryker disable StringLiteral: text for people; the route and browser tests check it.
export const WEBHOOK_DELETED = 'Webhook deleted.'
export const WEBHOOK_ON = 'Webhook turned on.'
export const WEBHOOK_OFF = 'This webhook is off. Turn it on first.'
export const TEST_SENT = 'Test event sent. Its answer appears under Deliveries.'
export const SENT_AGAIN = 'Sending the event again.'
export const URL_TAKEN = 'You already have a webhook with this URL.'
export const TOO_MANY_WEBHOOKS = `You have ${MAX_WEBHOOKS} webhooks, the most an account can have. Delete one first.`
export const TOO_MANY_SECRETS = `${MAX_SECRETS} secrets are already signing. Wait until an older one expires.`
// Stryker restore StringLiteral

export const webhookForm = v.pipe(
  v.object({ url: v.string(), events: v.array(v.string()), current_password: v.string() }),
  rule('url', (f) => f.url.trim() !== '', 'Please enter a URL.'),
  rule('url', (f) => f.url.trim().length <= MAX_URL, `The URL cannot exceed ${MAX_URL} characters.`),
  rule('events', (f) => f.events.length > 0, 'Choose at least one event.'),
  rule('events', (f) => f.events.every(isEventType), `An event must be one of ${EVENT_TYPES.join(', ')}.`),
  rule('current_password', (f) => f.current_password !== '', CURRENT_PASSWORD_REQUIRED),
  v.transform((f) => ({ ...f, url: f.url.trim(), events: EVENT_TYPES.filter((type) => f.events.includes(type)) })),
)

function isEventType(type: string): type is EventType {
  return (EVENT_TYPES as readonly string[]).includes(type)
}

/**
 * Why we never send anything to this URL, as a sentence; null if we may. Judges only the name, because its address can
 * change: the sender checks that each time.
 * @param local whether this site runs on the user's own machine, where plain HTTP to it is fine
 * @param siteHosts our own hosts, which a webhook must not call
 */
export function webhookUrlFault(text: string, local: boolean, siteHosts: string[]): string | null {
  if (!URL.canParse(text)) return 'Please enter a full URL, such as https://example.com/hooks.'
  const url = new URL(text)
  if (url.username || url.password)
    return "The URL can't contain a user name or a password. Check the signature instead."
  if (local && isOwnMachine(url)) return null
  if (url.protocol !== 'https:') return 'The URL must begin with https://.'
  if (url.port) return 'The URL must use port 443. Leave the port out.'
  const host = url.hostname.replace(/\.+$/, '')
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return 'Use a host name instead of an IP address.'
  if (!isPublicName(host)) return 'This host is not on the public Internet.'
  if (siteHosts.some((own) => host === own || host.endsWith(`.${own}`))) return "A webhook can't call this site."
  return null
}

/** The URL as we keep and compare it: as browsers write it, without a fragment. */
export function normalUrl(text: string): string {
  const url = new URL(text)
  url.hash = ''
  return url.href
}

/** For how long we try to deliver an event. */
export const DELIVERY_MS = DAY_MS
const WAITS = [10 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 20 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS]

/**
 * When to try again after a failure; null after a whole day of trying. The last try is when the day ends.
 * @param attempts how many have failed
 * @param random in [0, 1): up to a fifth longer, so that tries that failed together don't repeat together
 */
export function nextTry(since: number, attempts: number, now: number, random: number): number | null {
  const end = since + DELIVERY_MS
  if (now >= end) return null
  const wait = WAITS[Math.min(attempts, WAITS.length) - 1] ?? 0
  return Math.min(end, Math.round(now + wait * (1 + random / 5)))
}
