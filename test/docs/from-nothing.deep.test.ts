import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { users } from '../../db/schema/accounts.ts'
import { places } from '../../db/schema/fleet.ts'
import { startSqld } from '../../dev/sqld.ts'
import { ec2Cloud } from '../../src/server/fleet/ec2.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { startAwsFront } from '../../testing/stack/aws-front.ts'
import { openTestDatabase } from '../../testing/stack/database.ts'
import { startDnsServer } from '../../testing/stack/dns-server.ts'
import { MACHINES } from '../../testing/stack/machine-settings.ts'
import { moto, startMoto } from '../../testing/stack/moto.ts'
import { type OperatorShell, openOperatorShell } from '../../testing/stack/operator-shell.ts'
import { serve } from '../../testing/stack/serve.ts'
import { stripeFront } from '../../testing/stack/stripe-front.ts'
import { startStripeMock, stripeMock } from '../../testing/stack/stripe-mock.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'

const operations = readFileSync(resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8')
const [, section = '', selling = ''] =
  /^## From nothing to selling\n(.*?)^### Selling\n(.*?)^## /ms.exec(operations) ?? []
/** As written, with the operator's own names. */
const commandsOf = (text: string) =>
  [...text.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) =>
    block.trim().replaceAll('sims.example.com', 'sims.test').replaceAll('ghcr.io/you', 'ghcr.io/ada').split('\n'),
  )
const commands = commandsOf(section)
const hasAws = spawnSync('aws', ['--version']).status === 0
const DOMAIN = 'staging.sims.test'

describe.skipIf(isSkipped(moto) || isSkipped(stripeMock) || (!hasAws && !process.env.CI))(
  'docs/operations.md, from nothing to selling',
  () => {
    let server: Awaited<ReturnType<typeof startMoto>>
    let aws: Awaited<ReturnType<typeof startAwsFront>>
    let sqld: Awaited<ReturnType<typeof startSqld>>
    let dns: Awaited<ReturnType<typeof startDnsServer>>
    let mock: Awaited<ReturnType<typeof startStripeMock>>
    let stripe: ReturnType<typeof stripeFront>
    let shell: OperatorShell

    beforeAll(async () => {
      server = await startMoto()
      aws = await startAwsFront(server.endpoint)
      sqld = await startSqld({ dataDir: temporaryFolder('from-nothing') })
      dns = await startDnsServer(() => ({
        [`A ${DOMAIN}`]: '127.0.0.1',
        [`TXT cf-bounce.${DOMAIN}`]: 'v=spf1 include:_spf.mx.cloudflare.net ~all',
        [`TXT cf-bounce._domainkey.${DOMAIN}`]: 'v=DKIM1; h=sha256; k=rsa; p=MIIB',
        [`TXT _dmarc.${DOMAIN}`]: 'v=DMARC1; p=none',
      }))
      mock = await startStripeMock()
      stripe = stripeFront(mock.url)
      // Nothing answers there before the deployment.
      const site = await serve((asked, answer) => {
        if (asked.url?.startsWith('/v1/')) return void stripe.answer(asked, answer)
        try {
          answer.end(JSON.stringify({ version: shell.version() }))
        } catch {
          answer.writeHead(522).end()
        }
      })
      shell = openOperatorShell({ AWS_ENDPOINT_URL: aws.endpoint, DATABASE_URL: sqld.url, site })
    })
    afterAll(async () => {
      dns?.close()
      aws?.close()
      await sqld?.close()
      await server?.stop()
      await mock?.close()
    })

    test('every command does what it says, as written, and ends with a site and a server', async () => {
      aws.state.vcpus = 0
      const setups: string[] = []
      for (const [i, command] of commands.entries()) {
        if (command.startsWith('npm run grant')) await signUp('you@sims.test')
        if (i === commands.length - 1) aws.state.vcpus = 64
        const answer = await shell.type(command, { DOCTOR_DNS: dns.address })
        // `setup` stops where the next step begins.
        expect(answer.ok, `${command}\n${answer.said}`).toBe(true)
        if (command.startsWith('npm run setup')) setups.push(answer.said)
        // What the text asks for in words.
        if (command.startsWith('npm run zone')) addCertificate()
      }
      const [first, last] = setups
      expect(first).toMatch(/ ok {3}tables\nnext {2}zone: .*npm run zone -- --env staging --zone us-east-1a/)
      expect(last).toMatch(/ ok {3}admin\n(.*\n)*\nAll checks pass\.$/)
      // AWS takes days, so we asked when we could.
      expect(aws.state.requested).toMatchObject([{ QuotaCode: 'L-DB2E81BA', DesiredValue: 16 }])
      await launchAsTheWorker()
    })

    function addCertificate(): void {
      const file = shell.inProduct('wrangler.toml')
      const line = `AWS_IDENTITY_CERTIFICATE = """\n${MACHINES.AWS_IDENTITY_CERTIFICATE}"""`
      writeFileSync(file, readFileSync(file, 'utf8').replace('[env.staging.vars]\n', `[env.staging.vars]\n${line}\n`))
    }

    test('then sells: setup creates the prices and the webhook at Stripe, once', async () => {
      const secrets = () => JSON.parse(readFileSync(shell.inProduct('secrets.staging.json'), 'utf8'))
      const config = shell.inProduct('wrangler.toml')
      // What the text asks for in words.
      writeFileSync(
        shell.inProduct('secrets.staging.json'),
        JSON.stringify({ ...secrets(), STRIPE_SECRET_KEY: 'sk_test_1' }),
      )
      writeFileSync(
        config,
        readFileSync(config, 'utf8').replace(
          'PLANS_FOR_SALE = "false"',
          'PLANS_FOR_SALE = "true"\nSELLER_NAME = "Test, Inc."\nSELLER_ADDRESS = "1 Road, Reno, NV 89501, US"',
        ),
      )
      for (const command of commandsOf(selling)) {
        const answer = await shell.type(command, { DOCTOR_DNS: dns.address })
        expect(answer.ok, `${command}\n${answer.said}`).toBe(true)
        if (command.includes('setup')) expect(answer.said).toMatch(/ ok {3}stripe\n(.*\n)*All checks pass\.$/)
      }
      expect(commandsOf(selling)).toHaveLength(3)
      expect(secrets().STRIPE_WEBHOOK_SECRET).toBe('whsec_of_the_mock')
      const again = await shell.type('npm run setup -- --env staging', { DOCTOR_DNS: dns.address })
      expect(again.said).toMatch(/All checks pass\.$/)
      expect(stripe.posted('/v1/prices')).toMatchObject([
        { lookup_key: 'proving_ground_basic_monthly', unit_amount: '2500' },
        { lookup_key: 'proving_ground_premium_monthly', unit_amount: '25000' },
      ])
      expect(stripe.posted('/v1/webhook_endpoints')).toMatchObject([{ url: `https://${DOMAIN}/webhooks/stripe` }])
    })

    test('says where the signing secret is if Stripe has the endpoint and the file lost it', async () => {
      const file = shell.inProduct('secrets.staging.json')
      const { STRIPE_WEBHOOK_SECRET: _, ...others } = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify(others))
      const { said } = await shell.type('npm run setup -- --env staging', { DOCTOR_DNS: dns.address })
      expect(said).toContain(`next  stripe: Copy the signing secret of https://${DOMAIN}/webhooks/stripe`)
    })

    test("refuses a live key for staging, and doesn't call Stripe", async () => {
      const file = shell.inProduct('secrets.staging.json')
      const before = readFileSync(file, 'utf8')
      writeFileSync(file, JSON.stringify({ ...JSON.parse(before), STRIPE_SECRET_KEY: 'sk_live_1' }))
      const { said } = await shell.type('npm run setup -- --env staging', { DOCTOR_DNS: dns.address })
      writeFileSync(file, before)
      expect(said).toContain('next  stripe: STRIPE_SECRET_KEY is a live key, so staging would charge cards.')
      expect(stripe.posted('/v1/prices')).toHaveLength(2)
    })

    test('takes at most 12 commands to the deployed site', () => {
      const site = commands.findIndex((command) => command.startsWith('npm run deploy'))
      const counted = commands.slice(0, site + 1).filter((command) => !command.startsWith('cd '))
      expect(counted.length).toBeLessThanOrEqual(12)
    })

    test('a step that is repeated changes nothing', async () => {
      const secrets = readFileSync(shell.inProduct('secrets.staging.json'), 'utf8')
      const zone = commands.find((command) => command.startsWith('npm run zone')) ?? ''
      const again = await shell.type(zone)
      expect(again.ok, again.said).toBe(true)
      expect(again.said).toContain(
        `To go back: npm run zone -- --env staging --zone us-east-1a --image ghcr.io/ada/simulator:1`,
      )
      expect(again.said).not.toContain('Added')
      expect(readFileSync(shell.inProduct('secrets.staging.json'), 'utf8')).toBe(secrets)
    })

    // moto can't change a condition in an update, so this is a new zone.
    test('pins the machine image, and says the command that goes back to it', async () => {
      const zone = 'npm run zone -- --env staging --zone us-east-1b --places 0 --image ghcr.io/ada/simulator:0'
      const pinned = await shell.type(`${zone} --machine-image ami-0123456789abcdef0`)
      expect(pinned.said).toContain('run ghcr.io/ada/simulator:0 on the machine image ami-0123456789abcdef0.')
      const again = await shell.type(`${zone} --machine-image ami-0123456789abcdef0`)
      expect(again.said).toContain('To go back: npm run zone -- --env staging --zone us-east-1b')
      expect(again.said).toContain('--image ghcr.io/ada/simulator:0 --machine-image ami-0123456789abcdef0')
      // Without it, machines start from the newest again.
      const newest = await shell.type(zone)
      expect(newest.said).toMatch(/on the machine image ami-(?!0123456789abcdef0)[0-9a-f]{17}\.\n/)
      expect(newest.said).toContain('--image ghcr.io/ada/simulator:0 --machine-image ami-0123456789abcdef0')
    })

    test('setup refuses an environment that does not exist, and leaves nothing behind', async () => {
      const { ok, said } = await shell.type('npm run setup -- --env stagin --domain sims.test')
      expect(ok).toBe(false)
      expect(said).toContain('wrangler.toml has no environment "stagin". It has staging and production.')
      expect(existsSync(shell.inProduct('secrets.stagin.json'))).toBe(false)
    })

    test.each([
      ['--zone us-east-1a --image ghcr.io/ada/simulator:', "isn't a container image"],
      [
        '--zone us-east-1e --image ghcr.io/ada/simulator:1',
        "us-east-1e doesn't offer g6.4xlarge. These do: us-east-1a",
      ],
      ['--zone us-west-2a --image ghcr.io/ada/simulator:1', 'AWS_REGION is us-east-1.'],
      ['--zone us-east-1b --image ghcr.io/ada/simulator:1 --machine-image newest', '--machine-image must be an ID'],
      ['--zone us-east-1b --imgae ghcr.io/ada/simulator:1', 'Usage:'],
    ])('a typo deploys nothing: npm run zone -- %s', async (words, sentence) => {
      const before = shell.calls().length
      const { ok, said } = await shell.type(`npm run zone -- --env staging ${words}`)
      expect(ok).toBe(false)
      expect(said).toContain(sentence)
      expect(
        shell
          .calls()
          .slice(before)
          .filter((call) => call.includes('cloudformation deploy')),
      ).toEqual([])
    })

    /** The site's own work. */
    async function signUp(email: string) {
      const db = openTestDatabase(sqld.url)
      await db.insert(users).values({ id: 'usr_1', name: 'Ada', email, passwordHash: '', createdAt: 1, confirmedAt: 1 })
    }

    /** The key, the template, and the place fit. */
    async function launchAsTheWorker() {
      const [place] = await openTestDatabase(sqld.url)
        .select()
        .from(places)
        .where(eq(places.instanceType, 'g6.4xlarge'))
      expect(place).toMatchObject({ availabilityZone: 'us-east-1a', gpus: 1, launchTemplate: null })
      const secrets = JSON.parse(readFileSync(shell.inProduct('secrets.staging.json'), 'utf8'))
      const cloud = ec2Cloud({ ...secrets, AWS_REGION: 'us-east-1', EC2_ENDPOINT: aws.endpoint })
      const launched = await cloud.launch({
        ...{ token: 't', name: 't', tags: {}, launchTemplate: place?.launchTemplate ?? null },
        ...{ instanceType: place?.instanceType ?? '', availabilityZone: place?.availabilityZone ?? '' },
      })
      const id = 'refused' in launched ? launched.code : launched.id
      expect(await cloud.findInstance(id)).toMatchObject({ state: 'running' })
    }
  },
)
