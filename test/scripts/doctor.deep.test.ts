import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { eq, sql } from 'drizzle-orm'
import Stripe from 'stripe'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import journal from '../../db/migrations/meta/_journal.json' with { type: 'json' }
import { places } from '../../db/schema/fleet.ts'
import { startStripe } from '../../dev/stripe/stand-in.ts'
import { examine } from '../../scripts/doctor/examine.ts'
import { ec2Cloud } from '../../src/server/fleet/ec2.ts'
import { addPlaces } from '../../src/server/fleet/places.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { startAwsFront } from '../../testing/stack/aws-front.ts'
import { type DeployedAccount, deployAccount } from '../../testing/stack/deployed-account.ts'
import { startDnsServer } from '../../testing/stack/dns-server.ts'
import { MACHINES } from '../../testing/stack/machine-settings.ts'
import { moto, startMoto } from '../../testing/stack/moto.ts'
import { ownDatabase } from '../../testing/stack/own-database.ts'
import { serve } from '../../testing/stack/serve.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const DOMAIN = 'mail.test'
const MAIL = {
  [`TXT cf-bounce.${DOMAIN}`]: 'v=spf1 include:_spf.mx.cloudflare.net ~all',
  [`TXT cf-bounce._domainkey.${DOMAIN}`]: 'v=DKIM1; h=sha256; k=rsa; p=MIIB',
  [`TXT _dmarc.${DOMAIN}`]: 'v=DMARC1; p=none',
}
const EVENTS = ['checkout.session.completed', 'checkout.session.expired']
const database = await ownDatabase()

describe.skipIf(isSkipped(moto))('npm run doctor', () => {
  const folder = temporaryFolder('doctor')
  let server: Awaited<ReturnType<typeof startMoto>>
  let account: DeployedAccount
  let aws: Awaited<ReturnType<typeof startAwsFront>>
  let stripe: Awaited<ReturnType<typeof startStripe>>
  let dns: Awaited<ReturnType<typeof startDnsServer>>
  let records: Record<string, string> = {}
  const readiness = { status: 200, version: 'abc1234' }
  let origin = ''
  let other = ''
  let settings: Record<string, string> = {}

  beforeAll(async () => {
    server = await startMoto()
    aws = await startAwsFront(server.endpoint)
    stripe = await startStripe({ dataDir: join(folder, 'stripe') })
    dns = await startDnsServer(() => records)
    origin = await serve((_, answer) => answer.writeHead(readiness.status).end(JSON.stringify(readiness)))
    account = await deployAccount(server.endpoint, ['a', 'b', 'c', 'e'], origin)
    other = await serve((_, answer) => answer.writeHead(404).end('<html>'))
    await stripeClient().webhookEndpoints.create({ url: `${origin}/webhooks/stripe`, enabled_events: ['*'] })
    await launchOne()
  })
  afterAll(async () => {
    dns?.close()
    aws?.close()
    await stripe?.close()
    await server?.stop()
  })

  beforeEach(async () => {
    records = { ...MAIL }
    Object.assign(aws.state, { vcpus: 64, aheadMs: 0 })
    settings = {
      SITE_ORIGINS: origin,
      SECRET_KEY: 'a-secret-of-thirty-two-characters-or-more',
      PASSWORD_PEPPER: 'a-pepper-of-thirty-two-characters-or-more',
      LIBSQL_URL: database.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: account.key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: account.key.secretAccessKey,
      ...MACHINES,
      EC2_ENDPOINT: aws.endpoint,
      STRIPE_SECRET_KEY: 'sk_test_local',
      STRIPE_WEBHOOK_SECRET: 'whsec_local',
      STRIPE_API_BASE: stripe.apiBase,
      PLANS_FOR_SALE: 'true',
      SELLER_NAME: 'Test, Inc.',
      SELLER_ADDRESS: '1 Road, Reno, NV 89501, US',
      MAIL_FROM: `Proving Ground <hello@${DOMAIN}>`,
      OPERATOR_EMAIL: `operator@${DOMAIN}`,
      SECURITY_CONTACT: `security@${DOMAIN}`,
      DOCTOR_DNS: dns.address,
    }
    await account.enforce()
    await setNewestMigration(newest)
    await database.delete(places)
    await add('a', null)
    await add('b')
  })

  const newest = Math.max(...journal.entries.map(({ when }) => when))
  const setNewestMigration = (at: number) =>
    database.run(
      sql`UPDATE __drizzle_migrations SET created_at = ${at} WHERE created_at = (SELECT max(created_at) FROM __drizzle_migrations)`,
    )
  const stripeClient = (apiBase = stripe.apiBase) => {
    const { hostname, port } = new URL(apiBase)
    return new Stripe('sk_test_local', { host: hostname, port, protocol: 'http', telemetry: false })
  }

  async function launchOne() {
    const cloud = ec2Cloud({
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: account.key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: account.key.secretAccessKey,
      EC2_ENDPOINT: server.endpoint,
      EC2_LAUNCH_TEMPLATE: account.templates.a ?? '',
    })
    await cloud.launch({ token: 't', instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', tags: {} })
  }

  const add = (letter: string, launchTemplate = account.templates[letter] ?? null) =>
    addPlaces(
      { db: database, now: Date.now },
      { instanceType: 'g6.4xlarge', availabilityZone: `us-east-1${letter}`, launchTemplate, gpus: 1, count: 1 },
    )

  /** The lines of the checks that don't pass. */
  async function findWrong() {
    const lines: string[] = []
    const failed = await examine(settings, (line) => lines.push(line))
    // Nobody but its operator can see Stripe's retries.
    const wrong = lines.filter((line) =>
      /^(FAIL|skip (?! *retries: Stripe doesn't tell us\. Look yourself))/.test(line),
    )
    expect(wrong.filter((line) => line.startsWith('FAIL'))).toHaveLength(failed)
    return wrong
  }

  /** Runs the command as an operator would. */
  const run = (words: string[], env: Record<string, string>) =>
    promisify(execFile)(process.execPath, [join(ROOT, 'scripts/doctor.ts'), ...words], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
    }).then(
      (said) => ({ ...said, code: 0 }),
      (error: { stdout: string; stderr: string; code: number }) => error,
    )

  test('passes a healthy product, one line a check', async () => {
    const { stdout, code } = await run([], settings)
    expect(code).toBe(0)
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(6).split(':')[0]),
    ).toEqual([
      ...['settings', 'database', 'places', 'clock', 'access key', 'terminate'],
      ...['g6.4xlarge in us-east-1a', 'g6.4xlarge in us-east-1b', 'quota'],
      ...['webhook', 'price of Basic', 'price of Premium', 'seller', 'portal', 'retries'],
      ...['mail', 'mail', 'mail', '127.0.0.1', '', 'ecks pass.'],
    ])
  })

  /** What is planted, and the lines that name it. */
  const MISTAKES: [string, () => unknown, ...RegExp[]][] = [
    [
      'malformed and short settings',
      () => Object.assign(settings, { SECRET_KEY: 'short', PASSWORD_PEPPER: 'pepper', AWS_REGION: 'us-east-1a' }),
      /SECRET_KEY must have 32 characters/,
      /AWS_REGION must be a region/,
      /PASSWORD_PEPPER should have 32 random characters/,
    ],
    [
      'an origin with a path',
      () => Object.assign(settings, { SITE_ORIGINS: `${origin}/site` }),
      /SITE_ORIGINS must list http\(s\) origins without a path/,
    ],
    [
      'a database that does not answer',
      () => Object.assign(settings, { LIBSQL_URL: 'http://127.0.0.1:20001' }),
      /database: The database doesn't answer, or refused \(.*ECONNREFUSED.*\)\. Check LIBSQL_URL/,
    ],
    [
      'a database without its newest migration',
      () => setNewestMigration(newest - 1),
      /database: It lacks migrations\. Run "npm run db:migrate"/,
    ],
    ['no places', () => database.delete(places), /places: There are none/],
    [
      'the secret of another access key',
      () => Object.assign(settings, { AWS_SECRET_ACCESS_KEY: 'guessed' }),
      /access key: It can't find instances \(AuthFailure: .*\)\. Check AWS_REGION, AWS_ACCESS_KEY_ID, and/,
    ],
    [
      'a missing permission to launch',
      () => account.enforce(['ec2:RunInstances']),
      /us-east-1a: AWS refuses to launch it \(AccessDenied: .*ec2:RunInstances/,
      /us-east-1b: AWS refuses to launch it/,
    ],
    [
      'a missing permission to terminate',
      () => account.enforce(['ec2:TerminateInstances']),
      /terminate: AWS refuses \(AccessDenied: .*ec2:TerminateInstances.*so servers would keep running/,
    ],
    [
      'a missing permission to read health',
      () => account.enforce(['ec2:DescribeInstanceStatus']),
      /access key: It can't find instances \(AccessDenied: .*ec2:DescribeInstanceStatus/,
    ],
    [
      'a quota of 0, as in a new account',
      () => Object.assign(aws.state, { vcpus: 0 }),
      /quota: AWS allows 0 vCPUs .* need 32\. Request more.*"aws service-quotas .* --quota-code L-DB2E81BA --desired-value 32 --region us-east-1"/,
    ],
    [
      'a place whose launch template is missing',
      () => add('b', 'proving-ground-us-east-1d'),
      /us-east-1b: The launch template proving-ground-us-east-1d doesn't exist/,
    ],
    [
      "a place with another zone's launch template",
      () => add('b', account.templates.a),
      /us-east-1b: The launch template proving-ground-us-east-1a has its subnet in us-east-1a, not in us-east-1b/,
    ],
    [
      'a place in a zone without its type',
      () => add('e'),
      /g6\.4xlarge in us-east-1e: The zone us-east-1e doesn't offer it/,
    ],
    [
      'a place whose zone is in another region, without the advice to retire it',
      () => add('a').then(() => database.update(places).set({ availabilityZone: 'us-west-2a' })),
      /g6\.4xlarge in us-west-2a: AWS_REGION is us-east-1, where this zone isn't\. Correct AWS_REGION, or else drain/,
    ],
    [
      'a Stripe that does not answer',
      () => Object.assign(settings, { STRIPE_API_BASE: 'http://127.0.0.1:20001' }),
      /Stripe: Stripe doesn't answer \(.*\)\. Check this machine's network/,
    ],
    [
      'a site that is someone else’s',
      () => Object.assign(settings, { SITE_ORIGINS: `${origin},${other}` }),
      /127\.0\.0\.1: The site isn't ready: Something else answers there, with status 404\. Deploy it/,
    ],
    [
      'a clock that is 10 minutes behind',
      () => Object.assign(aws.state, { aheadMs: 600_000 }),
      /clock: This machine is (599|600|601) s behind AWS/,
    ],
    [
      'a sender that Cloudflare does not send for',
      () => {
        records[`TXT cf-bounce.${DOMAIN}`] = 'v=spf1 -all'
        delete records[`TXT cf-bounce._domainkey.${DOMAIN}`]
      },
      /mail: SPF: cf-bounce\.mail\.test has no such record that begins with v=spf1 include:_spf\.mx/,
      /mail: DKIM: cf-bounce\._domainkey\.mail\.test has no such record/,
    ],
    ['no DMARC record', () => delete records[`TXT _dmarc.${DOMAIN}`], /mail: DMARC: _dmarc\.mail\.test has no such/],
    [
      "a sender's domain that has expired",
      () => {
        records = {}
      },
      /mail: The domain mail\.test doesn't exist in DNS\. Renew it, or correct MAIL_FROM/,
    ],
    [
      "an access key's ID as its secret",
      () => Object.assign(settings, { AWS_SECRET_ACCESS_KEY: 'AKIAIOSFODNN7EXAMPLE' }),
      /settings: AWS_SECRET_ACCESS_KEY is an access key's ID/,
      /access key: It can't find instances/,
    ],
    [
      'one random value for two secrets',
      () => Object.assign(settings, { PASSWORD_PEPPER: `${'p'.repeat(32)},${settings.SECRET_KEY}` }),
      /settings: PASSWORD_PEPPER and SECRET_KEY share a value/,
    ],
    [
      "a zone's subnet that is gone",
      async () => {
        await account.loseSubnet('c')
        await account.enforce()
        await add('c')
      },
      /us-east-1c: The launch template proving-ground-us-east-1c names the subnet subnet-\w+, which doesn't exist\. Deploy/,
    ],
    [
      "someone else's address as the sender",
      () => {
        settings.MAIL_FROM = 'hello@other.test'
        records['TXT other.test'] = 'v=spf1 ~all'
      },
      /SPF: cf-bounce\.other\.test has no such record/,
      /DKIM: cf-bounce\._domainkey\.other\.test has no such record/,
      /DMARC: _dmarc\.other\.test has no such record/,
    ],
    [
      'an origin without a DNS record',
      () => Object.assign(settings, { SITE_ORIGINS: `${origin},https://nowhere.test` }),
      /nowhere\.test: The name has no address in DNS/,
    ],
    [
      'a webhook endpoint for another site',
      () => Object.assign(settings, { SITE_ORIGINS: origin.replace('127.0.0.1', 'localhost') }),
      /us-east-1a: .* doesn't tell its machines that their site is http:\/\/localhost:\d+, so runs have no log\. Deploy infra\/zone\.yaml/,
      /us-east-1b: .* doesn't tell its machines/,
      /webhook: Stripe has no endpoint http:\/\/localhost:\d+\/webhooks\/stripe/,
    ],
  ]

  test.each(MISTAKES)('names %s, and nothing else', async (_, plant, ...lines) => {
    await plant()
    expect((await findWrong()).filter((line) => line.startsWith('FAIL'))).toEqual(
      lines.map((line) => expect.stringMatching(line)),
    )
  })

  test.each([
    ['production', 'sk_test_1', 'STRIPE_SECRET_KEY is a test key, so nobody would really pay.'],
    ['staging', 'rk_live_1', 'STRIPE_SECRET_KEY is a live key, so staging would charge cards.'],
  ])('in %s, names the key %s', async (environment, STRIPE_SECRET_KEY, sentence) => {
    const lines: string[] = []
    await examine({ ...settings, STRIPE_SECRET_KEY }, (line) => lines.push(line), environment)
    expect(lines.filter((line) => line.includes('stripe'))).toEqual([expect.stringContaining(sentence)])
  })

  test("a subdomain's email has the policy of the domain above it", async () => {
    settings.MAIL_FROM = `hello@news.${DOMAIN}`
    for (const name of ['cf-bounce', 'cf-bounce._domainkey'])
      records[`TXT ${name}.news.${DOMAIN}`] = records[`TXT ${name}.${DOMAIN}`] ?? ''
    expect(await findWrong()).toEqual([])
  })

  test('names a missing price, one with another amount, missing events, and what bookkeepers miss', async () => {
    const dataDir = join(folder, 'wrong-stripe')
    const wrong = await startStripe({ dataDir })
    await wrong.close()
    const price = { id: 'price_basic_monthly', object: 'price', active: true, currency: 'usd', unit_amount: 2000 }
    const basic = { ...price, lookup_key: 'proving_ground_basic_monthly', recurring: { interval: 'month' } }
    const premium = { ...basic, id: 'price_premium_monthly', lookup_key: 'premium' }
    const line = JSON.stringify([
      ['portal', 'allowed_updates', ['email', 'name']],
      ['prices', basic.id, basic],
      ['prices', premium.id, premium],
    ])
    writeFileSync(join(dataDir, 'stripe.jsonl'), `${line}\n`)
    const again = await startStripe({ dataDir })
    const url = `${origin}/webhooks/stripe`
    await stripeClient(again.apiBase).webhookEndpoints.create({ url, enabled_events: EVENTS as never })
    Object.assign(settings, { STRIPE_API_BASE: again.apiBase, SELLER_ADDRESS: undefined })
    const lines = await findWrong()
    await again.close()
    expect(lines).toEqual([
      expect.stringMatching(
        /webhook: The endpoint .* doesn't send charge\.dispute\.closed, .*credit_note\.created, customer\.subscription\.created, .*invoice\.voided, .*refund\.updated\./,
      ),
      expect.stringMatching(/price of Basic: It is 2000 usd cents per month\. Create a price of 25 USD a month/),
      expect.stringMatching(/price of Premium: It is missing\. Create a price of 250 USD a month with the lookup key/),
      expect.stringMatching(
        /seller: Set SELLER_ADDRESS in wrangler\.toml: statements need your legal name and address/,
      ),
      expect.stringMatching(/portal: .* let customers change their name, billing address, and tax ID\./),
    ])
  })

  test("says how to run it, and takes an environment from wrangler.toml, not from the operator's shell", async () => {
    writeFileSync(join(folder, 'wrangler.toml'), '[env.staging.vars]\nAWS_REGION = "mars"\n')
    expect((await run(['--help'], {})).stderr).toMatch(/^Usage:/)
    expect((await run(['--env', 'prod'], {})).stderr).toContain('wrangler.toml has no environment "prod".')
    const { stdout, code } = await run(['--env', 'staging'], { AWS_REGION: 'us-east-1' })
    expect(code).toBe(1)
    expect(stdout).toContain('AWS_REGION must be a region')
    expect(stdout).toContain('SECRET_KEY is missing. Put it into the file of secrets')
  })

  test('needs no Stripe before plans are for sale', async () => {
    const { STRIPE_SECRET_KEY: _, STRIPE_WEBHOOK_SECRET: __, ...rest } = settings
    settings = { ...rest, PLANS_FOR_SALE: 'false' }
    expect(await findWrong()).toEqual(['skip  stripe: Nothing is for sale, so it can wait.'])
    settings.PLANS_FOR_SALE = 'true'
    expect(await findWrong()).toContainEqual(expect.stringMatching(/^FAIL {2}settings: STRIPE_SECRET_KEY is missing/))
  })

  test('moves on without a plan for sale, and without a server to try termination on', async () => {
    Object.assign(settings, { PLANS_FOR_SALE: 'false', AWS_REGION: 'us-east-2' })
    await database.update(places).set({ retiredAt: 1 }).where(eq(places.availabilityZone, 'us-east-1a'))
    const wrong = await findWrong()
    expect(wrong).toContainEqual(expect.stringMatching(/^skip {2}prices: Plans are not for sale yet/))
    expect(wrong).toContainEqual(expect.stringMatching(/^skip {2}terminate: No server is running to try it on/))
  })
})
