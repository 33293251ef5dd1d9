import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { MACHINES } from '../../testing/stack/machine-settings.ts'
import { openSite } from '../../testing/stack/site.ts'

const ROOT = resolve(import.meta.dirname, '../..')
type Bindings = {
  durable_objects: { bindings: unknown[] }
  send_email: unknown[]
  ratelimits: { name: string; namespace_id: string; simple: unknown }[]
}
type Environment = Bindings & { name: string; vars: Record<string, string>; secrets: { required: string[] } }
const config = parse(readFileSync(resolve(ROOT, 'wrangler.toml'), 'utf8')) as unknown as Bindings & {
  workers_dev: boolean
  preview_urls: boolean
  observability: Record<string, unknown>
  env: Record<string, Environment>
}
const environments = Object.entries(config.env)

test('there is one way in: no workers.dev address, no previews', () => {
  expect([config.workers_dev, config.preview_urls]).toEqual([false, false])
})

test('Cloudflare logs no query: links have their secrets there', () => {
  expect(config.observability).toEqual({ enabled: true, head_sampling_rate: 1, redact_query_string: true })
  expect(environments.filter(([, environment]) => 'observability' in environment)).toEqual([])
})

test.each(environments)('%s binds what the local stack binds', (_, environment) => {
  const shared = ({ durable_objects, send_email, ratelimits }: Bindings) => ({
    durable_objects,
    send_email,
    ratelimits: ratelimits.map(({ name, simple }) => ({ name, simple })),
  })
  expect(shared(environment)).toEqual(shared(config))
})

test('each environment is a Worker of its own and counts its own requests', () => {
  expect(new Set(environments.map(([, { name }]) => name)).size).toBe(2)
  expect(
    new Set([config, ...Object.values(config.env)].map(({ ratelimits }) => ratelimits[0]?.namespace_id)).size,
  ).toBe(3)
})

test.each(environments)(
  '%s has every setting: with its variables and its secrets the Worker starts',
  async (_, environment) => {
    const { env: stub } = await openSite()
    const ours = [...Object.keys(environment.vars), ...environment.secrets.required]
    const bound = Object.entries(stub).filter(([name, value]) => typeof value !== 'string' || ours.includes(name))
    const missing = Object.fromEntries(Object.keys(stub).map((name) => [name, undefined]))
    const site = await openSite({
      ...missing,
      ...Object.fromEntries(bound),
      ...environment.vars,
      LIBSQL_AUTH_TOKEN: 'token',
      // Each region has its own.
      AWS_IDENTITY_CERTIFICATE: MACHINES.AWS_IDENTITY_CERTIFICATE,
    })
    expect((await site.request('/healthz')).status).toBe(200)
  },
)
