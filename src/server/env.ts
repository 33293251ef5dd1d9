import type { Fetcher, RateLimit, SendEmail } from '@cloudflare/workers-types'
import type { CounterCalls, HasherCalls, JobChannelCalls } from './ports/objects.ts'

/** What `wrangler.toml`, its secrets and the local stack bind. `docs/operations.md` explains each, `settings.ts` checks them. */
export type Env = {
  /** The origins that the site is served from, comma-separated; links in mails use the first. */
  SITE_ORIGINS: string
  /** 32 random characters or more: keys for sign-ins and CSRF tokens are derived from it, one per purpose. */
  SECRET_KEY: string
  /** Mixed into every password hash. */
  PASSWORD_PEPPER: string
  LIBSQL_URL: string
  LIBSQL_AUTH_TOKEN?: string
  AWS_REGION: string
  AWS_ACCESS_KEY_ID: string
  AWS_SECRET_ACCESS_KEY: string
  /** The launch template (name) that holds image, network and disk. */
  EC2_LAUNCH_TEMPLATE: string
  EC2_ENDPOINT?: string
  STRIPE_SECRET_KEY: string
  STRIPE_WEBHOOK_SECRET: string
  STRIPE_API_BASE?: string
  /** Where Stripe shows its checkout page, if not at checkout.stripe.com: a domain of one's own. */
  STRIPE_CHECKOUT_ORIGIN?: string
  /** `true` opens the sale of Basic and Premium; until then their buttons read 'Coming Soon!'. */
  PLANS_FOR_SALE?: string
  MAIL_FROM: string
  OPERATOR_EMAIL: string
  EMAIL: SendEmail
  ASSETS: Fetcher
  /** Not bound where pages run in Node, under Vite. */
  OUTER_LIMIT?: RateLimit
  ATTEMPT_COUNTER: { getByName(name: string): CounterCalls }
  PASSWORD_HASHER: { getByName(name: string): HasherCalls }
  JOB_CHANNEL: { getByName(userId: string): JobChannelCalls & Pick<Fetcher, 'fetch'> }
  /** Local stack only: where the movable clock stands. */
  CLOCK?: Fetcher
}
