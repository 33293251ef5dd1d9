import { expect, test } from 'vitest'
import { type Environment, readDeployment } from '../../dev/wrangler-config.ts'
import { faultsOfEnvironment } from '../../scripts/environment-faults.ts'
import { MACHINES } from '../../testing/stack/machine-settings.ts'

const top = readDeployment()
const SECRETS = {
  SECRET_KEY: 'a-secret-of-thirty-two-characters-or-more',
  PASSWORD_PEPPER: 'a-pepper-of-thirty-two-characters-or-more',
  LIBSQL_AUTH_TOKEN: 'token',
  AWS_ACCESS_KEY_ID: 'AKIA0000000000000000',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_ACCOUNT_ID: MACHINES.AWS_ACCOUNT_ID,
  STRIPE_SECRET_KEY: 'sk_test_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_1',
}
const VARS = {
  ...top.env.staging?.vars,
  SITE_ORIGINS: 'https://sims.test',
  LIBSQL_URL: 'libsql://sims.turso.io',
  MAIL_FROM: 'Sims <hello@sims.test>',
  OPERATOR_EMAIL: 'operator@sims.test',
  AWS_IDENTITY_CERTIFICATE: MACHINES.AWS_IDENTITY_CERTIFICATE,
}
const routes = [{ pattern: 'sims.test', custom_domain: true }]

/** The repository's staging, with somebody's own values. */
const filledIn = (vars: Environment['vars'] = {}, more: Partial<Environment> = {}): Environment => ({
  ...(top.env.staging as Environment),
  routes,
  ...more,
  vars: { ...VARS, ...vars },
})
const faults = (environment: Environment, secrets: Record<string, string> | null = SECRETS) =>
  faultsOfEnvironment(environment, secrets, top)

test('finds nothing wrong with what is right, with and without the file of secrets', () => {
  expect(faults(filledIn())).toEqual([])
  expect(faults(filledIn(), null)).toEqual([])
})

const door = { DOOR_DOMAIN: 'doors.test' }
const doorRoutes = [...routes, { pattern: '*.doors.test/*', zone_name: 'doors.test' }]
const vpc_networks = [{ binding: 'FLEET', tunnel_id: '00000000-0000' }]

test('finds nothing wrong with a door, or with a local site', () => {
  expect(faults(filledIn(door, { routes: doorRoutes, vpc_networks }))).toEqual([])
  expect(faults(filledIn({ SITE_ORIGINS: 'http://localhost:8787,http://127.0.0.1:8787' }))).toEqual([])
})

test.each<[string, Environment, RegExp]>([
  [
    'an unquoted true',
    filledIn({ PLANS_FOR_SALE: true }),
    /^PLANS_FOR_SALE must be a text: .* PLANS_FOR_SALE = "true"/,
  ],
  ['an unquoted false', filledIn({ PLANS_FOR_SALE: false }), /^PLANS_FOR_SALE must be a text/],
  ['a number', filledIn({ AWS_ACCOUNT_ID: 123456789012 }), /^AWS_ACCOUNT_ID must be a text/],
  ['a list', filledIn({ DOOR_PORTS: [9090] }), /^DOOR_PORTS must be a text/],
  ['a boolean that is none', filledIn({ PLANS_FOR_SALE: 'True' }), /^PLANS_FOR_SALE must be true or false/],
  ['a path', filledIn({ SITE_ORIGINS: 'https://sims.test/app' }), /^SITE_ORIGINS must list .* without a path/],
  [
    'a slash',
    filledIn({ SITE_ORIGINS: 'https://sims.test/' }),
    /^SITE_ORIGINS has a slash .* Write https:\/\/sims\.test\.$/,
  ],
  ['a second slash', filledIn({ SITE_ORIGINS: 'https://sims.test, https://sims.test/' }), /^SITE_ORIGINS has a slash/],
  ['a site without a route', filledIn({}, { routes: [] }), /^SITE_ORIGINS has https:\/\/sims\.test, but no route/],
  [
    'a typo',
    filledIn({ SITE_ORIGIN: 'x' }),
    /^Nobody reads SITE_ORIGIN in wrangler\.toml\. Did you mean SITE_ORIGINS\?$/,
  ],
  ['a typo in lower case', filledIn({ plans_for_sale: 'true' }), /Did you mean PLANS_FOR_SALE\?$/],
  ['a name of something else', filledIn({ DATABASE: 'x' }), /^Nobody reads DATABASE in wrangler\.toml\. Take it out/],
  ['a version', filledIn({ VERSION: 'x' }), /^VERSION is the commit/],
  ['a secret in git', filledIn({ METRICS_TOKEN: 't'.repeat(32) }), /^METRICS_TOKEN is a secret\. Take it out/],
  ['one name in two places', filledIn({ AWS_ACCESS_KEY_ID: 'x' }), /^AWS_ACCESS_KEY_ID is in wrangler\.toml and in/],
  ["the example's domain", filledIn({ MAIL_FROM: 'P <hello@proving-ground.example>' }), /example's value: MAIL_FROM\./],
  ["the example's address", filledIn({ OPERATOR_EMAIL: 'you@example.com' }), /example's value: OPERATOR_EMAIL\./],
  ["the example's database", filledIn({ LIBSQL_URL: 'libsql://a.example.turso.io' }), /example's value: LIBSQL_URL\./],
  [
    "the example's route",
    filledIn({}, { routes: [...routes, { pattern: 'proving-ground.example' }] }),
    /example's value: routes\./,
  ],
  ['no objects', filledIn({}, { durable_objects: { bindings: [] } }), /^The environment doesn't bind JOB_CHANNEL/],
  ['no mail', filledIn({}, { send_email: [] }), /^The environment doesn't bind EMAIL/],
  ['no outer limit', filledIn({}, { ratelimits: [] }), /^The environment doesn't bind OUTER_LIMIT/],
  ['a door without its tunnel', filledIn(door, { routes: doorRoutes }), /^DOOR_DOMAIN needs the binding FLEET/],
  ['a door without its route', filledIn(door, { vpc_networks }), /^DOOR_DOMAIN needs a route: .*"\*\.doors\.test\/\*"/],
  ...['sims.test', 'door.sims.test', 'a.b.sims.test', 'test.sims.test'].map((domain): [string, Environment, RegExp] => [
    `a door at ${domain}`,
    filledIn(
      { DOOR_DOMAIN: domain },
      { routes: [...routes, { pattern: `*.${domain}/*`, zone_name: domain }], vpc_networks },
    ),
    /^DOOR_DOMAIN must be a domain of its own, apart from the site's sims\.test\.$/,
  ]),
  [
    'a site below the doors',
    filledIn(
      { ...door, SITE_ORIGINS: 'https://www.doors.test' },
      { routes: [{ pattern: 'www.doors.test' }, ...doorRoutes], vpc_networks },
    ),
    /^DOOR_DOMAIN must be a domain of its own/,
  ],
  [
    'files without a key',
    filledIn({ FILES_ENDPOINT: 'https://s3.us-east-1.amazonaws.com' }),
    /^FILES_ENDPOINT needs FILES_BUCKET/,
  ],
])('names %s', (_, environment, sentence) => {
  const found = faults(environment)
  expect(found[0]).toMatch(sentence)
})

test('names a setting that is missing', () => {
  const { AWS_REGION: _, ...vars } = VARS as Record<string, string>
  expect(faults({ ...filledIn(), vars })).toEqual(['AWS_REGION is missing. Put it into [vars] in wrangler.toml.'])
})

test('names what the file of secrets lacks, misspells, or still has from an example', () => {
  const { SECRET_KEY: _, ...others } = SECRETS
  expect(faults(filledIn(), others)).toEqual(['SECRET_KEY is missing. Put it into the file of secrets.'])
  expect(faults(filledIn(), { ...others, SECRET_KEY: 'short' })).toEqual([
    expect.stringMatching(/^SECRET_KEY must have 32 characters/),
  ])
  expect(faults(filledIn(), { ...SECRETS, STRIPE_KEY: 'x' })).toEqual([
    expect.stringMatching(/^Nobody reads STRIPE_KEY in the file of secrets/),
  ])
  expect(faults(filledIn(), { ...SECRETS, AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE' })).toEqual([
    "These still have the example's value: AWS_ACCESS_KEY_ID. Replace it with your own.",
  ])
})

test('the repository itself is an example', () => {
  for (const environment of Object.values(top.env))
    expect(faults(environment, null)).toEqual([
      'AWS_IDENTITY_CERTIFICATE is missing. Put it into [vars] in wrangler.toml: docs/operations.md says where Amazon has it.',
      "These still have the example's value: SITE_ORIGINS, LIBSQL_URL, MAIL_FROM, OPERATOR_EMAIL, routes. Replace it with your own.",
    ])
})
