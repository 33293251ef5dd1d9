import { afterEach, expect } from 'vitest'
import { startStripe } from '../../dev/stripe/stand-in.ts'
import { atEnd, temporaryFolder } from './at-end.ts'
import { inBrief } from './recorded-log.ts'
import { openSite, SITE, type Site } from './site.ts'

/** The app with a Stripe of its own behind it, where plans are for sale. A test that logs anything must take those lines. */
export async function openBillingSite(settings: Record<string, string> = {}) {
  /** How far Stripe's clock is ahead of ours. */
  const clock = { ahead: 0 }
  const stripe = await startStripe({
    dataDir: temporaryFolder('billings'),
    webhookSecret: 'whsec_x',
    now: () => Date.now() + clock.ahead,
  })
  atEnd(() => stripe.close())
  const site = await openSite({ STRIPE_API_BASE: stripe.apiBase, PLANS_FOR_SALE: 'true', ...settings })
  afterEach(() => expect(inBrief(site.takeLines())).toEqual([]))
  return { site, stripe, clock, ...callsOf(site) }
}

/** What a browser sends: `post` a call of our own pages, `get` a page. */
export function callsOf(site: Site) {
  return {
    post: (path: string, cookie: string, body?: unknown) =>
      site.request(path, {
        method: 'POST',
        headers: {
          Cookie: cookie,
          Origin: SITE,
          'Sec-Fetch-Site': 'same-origin',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    get: (path: string, cookie: string) => site.request(path, { headers: { Cookie: cookie } }),
  }
}
