import type { Fetcher, RateLimit, SendEmail } from '@cloudflare/workers-types'
import type {
  CounterCalls,
  DoorCalls,
  EventSenderCalls,
  FleetWatcherCalls,
  HasherCalls,
  JobChannelCalls,
  RunLogCalls,
} from '../ports/objects.ts'

/**
 * The bindings from `wrangler.toml`, its secrets and the local stack. `docs/operations.md` explains them,
 * `settings.ts` checks them.
 */
export type Env = {
  /** The origins that serve the site, comma-separated; links in emails use the first. */
  SITE_ORIGINS: string
  /** 32 random characters or more. We derive the keys for sign-ins, CSRF tokens and the like from it. */
  SECRET_KEY: string
  /** Mixed into every password hash. `new,old` during a rotation, as for SECRET_KEY and STRIPE_WEBHOOK_SECRET. */
  PASSWORD_PEPPER: string
  LIBSQL_URL: string
  LIBSQL_AUTH_TOKEN?: string
  AWS_REGION: string
  AWS_ACCESS_KEY_ID: string
  AWS_SECRET_ACCESS_KEY: string
  /** The launch template (name) of places that name none; without it, the one that infra/zone.yaml makes for their zone. */
  EC2_LAUNCH_TEMPLATE?: string
  EC2_ENDPOINT?: string
  /** Both, or neither while nothing is for sale. */
  STRIPE_SECRET_KEY?: string
  STRIPE_WEBHOOK_SECRET?: string
  STRIPE_API_BASE?: string
  /** Stripe's checkout origin, if you use a custom domain instead of checkout.stripe.com. */
  STRIPE_CHECKOUT_ORIGIN?: string
  /** `true` opens the sale of Basic and Premium; until then their buttons read 'Coming Soon!'. */
  PLANS_FOR_SALE?: string
  /** Your legal name, address, and tax ID, on statements. The name and the address before you sell. */
  SELLER_NAME?: string
  SELLER_ADDRESS?: string
  SELLER_TAX_ID?: string
  MAIL_FROM: string
  OPERATOR_EMAIL: string
  /** Where people report security holes: an email or https address. The help page without it. */
  SECURITY_CONTACT?: string
  /** The day when you last rehearsed a restore, like 2026-11-30: /security says it. */
  RESTORE_REHEARSED?: string
  /** What Prometheus sends to read /metrics; without it there is no such page. `new,old` during a rotation. */
  METRICS_TOKEN?: string
  /** `on` or `off`: admins need a second factor. Only a local stack may switch it off, and does without it. */
  ADMIN_FACTOR?: string
  /** `off`: nobody may wait in line for a server. On without it. */
  LINE?: string
  /** The domain of the doors, apart from the site's own; without it there are none. docs/operations.md, "The door" */
  DOOR_DOMAIN?: string
  /** The machine's further HTTP and WebSocket ports with a host of their own. */
  DOOR_PORTS?: string
  /** The machine's ports that programs reach by raw TCP. */
  DOOR_TCP_PORTS?: string
  /** The bucket of customers' files, spoken to by the S3 protocol; without it there are none. docs/operations.md, "Files" */
  FILES_ENDPOINT?: string
  FILES_BUCKET?: string
  /** `auto` for R2. */
  FILES_REGION?: string
  FILES_ACCESS_KEY_ID?: string
  FILES_SECRET_ACCESS_KEY?: string
  /** For S3: the STS that issues temporary credentials. R2's we sign ourselves. */
  FILES_STS_URL?: string
  DOOR_ONLY?: string
  /** The account that machines run in, and what Amazon signs their identities with in this region, in PEM. */
  AWS_ACCOUNT_ID: string
  AWS_IDENTITY_CERTIFICATE: string
  /** The commit; `npm run deploy` sets it. */
  VERSION?: string
  EMAIL: SendEmail
  ASSETS: Fetcher
  /** Not bound when pages run in Node, under Vite. */
  OUTER_LIMIT?: RateLimit
  ATTEMPT_COUNTER: { getByName(name: string): CounterCalls }
  PASSWORD_HASHER: { getByName(name: string): HasherCalls }
  JOB_CHANNEL: { getByName(userId: string): JobChannelCalls & Pick<Fetcher, 'fetch'> }
  FLEET_WATCHER: { getByName(name: string): FleetWatcherCalls }
  EVENT_SENDER: { getByName(userId: string): EventSenderCalls }
  DOOR_KEEPER: { getByName(userId: string): DoorCalls & Pick<Fetcher, 'fetch'> }
  RUN_LOG: { getByName(runId: string): RunLogCalls & Pick<Fetcher, 'fetch'> }
  /** The private network of the machines. Bound with DOOR_DOMAIN. */
  FLEET?: Pick<Fetcher, 'fetch' | 'connect'>
  /** Local stack only: the movable clock. */
  CLOCK?: Fetcher
}
