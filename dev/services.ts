import { join } from 'node:path'
import { migrateDatabase } from '../db/migrate.ts'
import { hashPassword } from '../src/server/accounts/credentials/password.ts'
import type { deriveKey } from '../src/server/accounts/credentials/scrypt.ts'
import { openClock, type StackClock } from './clock.ts'
import { firstSlotOf } from './ec2/addresses.ts'
import { ACCOUNT_ID, openIdentities } from './ec2/identity.ts'
import { type Ec2StandIn, startEc2 } from './ec2/stand-in.ts'
import { BUCKET, type FilesStandIn, startFiles } from './files/stand-in.ts'
import { startGuard } from './guard.ts'
import { type Hashers, openHashers } from './hashing.ts'
import { ensureLaunchTemplate } from './launch-template.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import { faultOfServers } from './own-servers.ts'
import { localSecrets } from './secrets.ts'
import { SEED_PASSWORD, seed } from './seed.ts'
import { startSqld } from './sqld.ts'
import { Store } from './stand-in/store.ts'
import { type StripeStandIn, startStripe } from './stripe/stand-in.ts'

export type StackOptions = {
  /** The site's port. */
  port: number
  /** Stores the state between runs. */
  dataDir: string
  ec2BootMs?: number
  /** The port of the instances' own pages. */
  webPort?: number
  /** How many places the fleet starts with. */
  fleetSize?: number
  /** How many machines speak for themselves, at most. */
  talkingMachines?: number
  /** A server to use instead of the stand-in. */
  ec2Endpoint?: string | undefined
  stripeApiBase?: string | undefined
  /** Whether Basic and Premium are for sale; otherwise their buttons read 'Coming Soon!'. */
  plansForSale?: boolean
  /** Whether the console asks admins for a second factor. */
  adminFactor?: boolean
  libsqlUrl?: string | undefined
  /** The domain of the doors, such as door.localhost; without it there are none. */
  doorDomain?: string | undefined
  /** Ports of the machines that the doors open, as settings. */
  doorPorts?: Record<'DOOR_PORTS' | 'DOOR_TCP_PORTS', string | undefined>
  /** Hashes passwords at a different cost from the real one. */
  derive?: typeof deriveKey
  log?: (sentence: string) => void
}

/** A server on this machine accepts any keys. */
const AWS = {
  AWS_REGION: process.env.AWS_REGION ?? 'us-east-1',
  AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID ?? 'local',
  AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY ?? 'local',
  EC2_LAUNCH_TEMPLATE: process.env.EC2_LAUNCH_TEMPLATE ?? 'proving-ground',
}

/** Everything around the Worker: database, stand-ins, clock, mailbox, and the variables that name them. */
export type Services = {
  clock: StackClock
  mailbox: Mailbox
  hashers: Hashers
  ec2: Ec2StandIn | null
  stripe: StripeStandIn | null
  files: FilesStandIn
  vars: Record<string, string>
  /** Lines to print: each service and its address. */
  addresses: [string, string][]
  /** Ends a process if the stack is killed. */
  watch(pid: number): void
  close(): Promise<void>
}

/** @throws a sentence, before anything has happened, if a server isn't on this machine */
export async function startServices(options: StackOptions): Promise<Services> {
  const fault = faultOfServers(options)
  if (fault) throw new Error(fault)
  const { dataDir, port, log = console.log } = options
  const guard = startGuard()
  const clock = openClock(join(dataDir, 'clock'))
  const mailbox = openMailbox(join(dataDir, 'mail.jsonl'), clock.now)
  const hashers = openHashers(options.derive)
  const sqld = options.libsqlUrl ? null : await startSqld({ dataDir: join(dataDir, 'libsql'), guard })
  const libsqlUrl = options.libsqlUrl ?? (sqld?.url as string)
  const secrets = localSecrets(dataDir)
  await migrateDatabase(libsqlUrl)
  const passwordHash = await hashPassword(
    { hasher: hashers.getByName('seed'), config: { passwordPepper: secrets.PASSWORD_PEPPER } },
    SEED_PASSWORD,
  )
  await seed({ libsqlUrl, passwordHash, now: clock.now(), fleetSize: options.fleetSize ?? 8 })
  const ec2 = options.ec2Endpoint
    ? null
    : await startEc2({
        dataDir: join(dataDir, 'ec2'),
        now: clock.now,
        firstSlot: firstSlotOf(port),
        siteUrl: `http://localhost:${port}`,
        log,
        ...(options.talkingMachines === undefined ? {} : { talkingMachines: options.talkingMachines }),
        ...(options.ec2BootMs === undefined ? {} : { bootMs: options.ec2BootMs }),
        ...(options.webPort === undefined ? {} : { webPort: options.webPort }),
      })
  const stripe = options.stripeApiBase
    ? null
    : await startStripe({
        dataDir: join(dataDir, 'stripe'),
        now: clock.now,
        webhookUrl: `http://localhost:${port}/webhooks/stripe`,
        webhookSecret: secrets.STRIPE_WEBHOOK_SECRET,
        log,
      })
  const siteOrigins = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]
  const files = await startFiles({ dataDir: join(dataDir, 'files'), now: clock.now, origins: siteOrigins })
  const stripeApiBase = options.stripeApiBase ?? (stripe?.apiBase as string)
  const ec2Endpoint = options.ec2Endpoint ?? (ec2?.endpoint as string)
  if (options.ec2Endpoint)
    await ensureLaunchTemplate(
      {
        endpoint: options.ec2Endpoint,
        region: AWS.AWS_REGION,
        credentials: { accessKeyId: AWS.AWS_ACCESS_KEY_ID, secretAccessKey: AWS.AWS_SECRET_ACCESS_KEY },
      },
      AWS.EC2_LAUNCH_TEMPLATE,
    )
  return {
    clock,
    mailbox,
    hashers,
    ec2,
    stripe,
    files,
    vars: {
      ...secrets,
      SITE_ORIGINS: siteOrigins.join(),
      LIBSQL_URL: libsqlUrl,
      ...AWS,
      EC2_ENDPOINT: ec2Endpoint,
      STRIPE_SECRET_KEY: 'sk_test_local',
      STRIPE_API_BASE: stripeApiBase,
      STRIPE_CHECKOUT_ORIGIN: new URL(stripeApiBase).origin,
      ...(options.doorDomain ? given({ DOOR_DOMAIN: options.doorDomain, ...options.doorPorts }) : {}),
      FILES_ENDPOINT: files.endpoint,
      FILES_BUCKET: BUCKET,
      FILES_ACCESS_KEY_ID: files.accessKeyId,
      FILES_SECRET_ACCESS_KEY: files.secretAccessKey,
      AWS_ACCOUNT_ID: ACCOUNT_ID,
      // Machines of another EC2 can't prove what they are, so they start without a log and without files.
      AWS_IDENTITY_CERTIFICATE: ec2?.certificate ?? openIdentities(new Store(null)).certificate,
      PLANS_FOR_SALE: String(options.plansForSale ?? false),
      SELLER_NAME: 'Proving Ground, Inc.',
      SELLER_ADDRESS: '1 Test Range Road, Reno, NV 89501, US',
      SELLER_TAX_ID: 'US EIN 00-0000000',
      ADMIN_FACTOR: options.adminFactor ? 'on' : 'off',
      MAIL_FROM: 'Proving Ground <hello@proving-ground.example>',
      OPERATOR_EMAIL: 'operator@proving-ground.example',
    },
    addresses: [
      ['Database (libSQL)', libsqlUrl],
      ['Cloud (EC2)', ec2Endpoint],
      ['Payments (Stripe)', stripeApiBase],
      ['Files (S3)', files.endpoint],
      ['Captured mail', `http://localhost:${port}/dev/mailbox`],
    ],
    watch: guard.watch,
    async close() {
      await files.close()
      await stripe?.close()
      await ec2?.close()
      await sqld?.close()
      guard.close()
    },
  }
}

/** What has a value. */
function given(settings: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).flatMap(([name, value]) => (value ? [[name, value]] : [])))
}
