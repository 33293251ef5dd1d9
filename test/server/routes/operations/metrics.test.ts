import { readFileSync } from 'node:fs'
import parse from 'parse-prometheus-text-format'
import { beforeAll, expect, test } from 'vitest'
import { invoices } from '../../../../db/schema/billing.ts'
import { jobs, places, runs } from '../../../../db/schema/fleet.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { callCounts } from '../../../../db/schema/operations.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { toPrometheus } from '../../../../src/server/operations/prometheus.ts'
import { openSite } from '../../../../testing/stack/site.ts'

const OLD = 'the-old-token-of-thirty-two-characters'
const NEW = 'the-new-token-of-thirty-two-characters'
const site = await openSite({ METRICS_TOKEN: `${NEW},${OLD}`, VERSION: 'abc1234' })
const ask = (token: string | null, at = site) =>
  at.request('/metrics', token === null ? {} : { headers: { Authorization: `Bearer ${token}` } })

type Sample = { value: string; labels?: Record<string, string> }

async function scrape(): Promise<Map<string, Sample[]>> {
  const parsed = parse(await (await ask(NEW)).text())
  return new Map(parsed.map(({ name, metrics }) => [name.replace('proving_ground_', ''), metrics]))
}

/** Samples as `label label: value`. */
const brief = (samples: Sample[] = []) =>
  samples.map(({ labels = {}, value }) => `${Object.values(labels).join(' ')}: ${value}`).sort()

beforeAll(async () => {
  const { userId } = await site.signInAs('user')
  const now = Date.now()
  const place = { instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', position: 0 }
  await site.db.insert(places).values([
    { ...place, id: 'srv_free' },
    { ...place, id: 'srv_used', reservedBy: 'ses_live' },
    { ...place, id: 'srv_aside', setAsideUntil: now + 600_000, availabilityZone: 'us-east-1b' },
    { ...place, id: 'srv_retired', retiredAt: now },
  ])
  const newRun = async (readyAfter: number | null, live = false) => {
    const id = newId('ses')
    const requestedAt = now - 1_800_000
    const billedFrom = readyAfter === null ? null : requestedAt + readyAfter
    const run = { id, userId, placeId: 'srv_used', instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a' }
    await site.db.insert(runs).values({ ...run, requestedAt, billedFrom, endedAt: live ? null : now })
    return id
  }
  const newJob = async (runId: string, job: Partial<typeof jobs.$inferInsert>) => {
    const base = { id: newId('job'), userId, runId, kind: 'server_start' as const, status: 'succeeded' as const }
    await site.db.insert(jobs).values({ ...base, createdAt: now - 1_800_000, updatedAt: now, ...job })
  }
  for (let seconds = 1; seconds <= 100; seconds++) await newJob(await newRun(seconds * 1000), {})
  // Beyond the hour.
  await newJob(await newRun(900_000), { updatedAt: now - 3_600_001 })
  const refused = await newRun(null)
  await newJob(refused, { status: 'failed', errorCode: 'launch_refused' })
  await newJob(refused, { kind: 'server_stop' })
  const live = await newRun(1_000, true)
  await newJob(live, { kind: 'server_stop', status: 'running', runAt: now - 60_000, attempts: 7 })
  await newJob(await newRun(null), { kind: 'server_stop', status: 'running', runAt: now + 60_000, createdAt: now })
  const mail = { recipient: 'a', subject: 's', text: '', html: '' }
  await site.db.insert(outbox).values([
    { ...mail, id: 'm', createdAt: now - 120_000, sendAt: now },
    { ...mail, id: 'new', createdAt: now, sendAt: now },
  ])
  await site.db.insert(callCounts).values([
    { system: 'ec2', call: 'launch', outcome: 'refused', count: 3, lastAt: now },
    { system: 'webhook', call: 'stripe', outcome: 'failed', count: 2, lastAt: now },
  ])
  expect(await site.db.$count(invoices)).toBe(0)
})

test('opens only to the token, and to the old one during a rotation', async () => {
  const without = await openSite()
  delete without.env.METRICS_TOKEN
  for (const token of [NEW, OLD]) expect((await ask(token)).status).toBe(200)
  for (const token of [null, '', NEW.slice(1), `${NEW},${OLD}`]) expect((await ask(token)).status).toBe(401)
  expect((await ask(NEW, without)).status).toBe(404)
})

test('answers in the format that Prometheus reads', async () => {
  const response = await ask(NEW)
  expect(response.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const metrics = await scrape()
  expect(brief(metrics.get('info'))).toEqual(['abc1234: 1'])
  expect(brief(metrics.get('starts'))).toEqual([
    'launch_refused g6.4xlarge us-east-1a: 1',
    'succeeded g6.4xlarge us-east-1a: 100',
  ])
  expect(brief(metrics.get('stops'))).toEqual(['succeeded g6.4xlarge us-east-1a: 1'])
  expect(brief(metrics.get('time_to_ready_seconds'))).toEqual(['50: 50', '90: 90', '99: 99'])
  expect(brief(metrics.get('runs'))).toEqual(['running: 1'])
  expect(brief(metrics.get('places'))).toEqual([
    'g6.4xlarge us-east-1a free: 1',
    'g6.4xlarge us-east-1a reserved: 1',
    'g6.4xlarge us-east-1b set_aside: 1',
  ])
  expect(brief(metrics.get('places_free'))).toEqual([': 1'])
  expect(brief(metrics.get('jobs_waiting'))).toEqual(['server_stop: 2'])
  expect(brief(metrics.get('jobs_late'))).toEqual(['server_stop: 1'])
  expect(brief(metrics.get('job_tries'))).toEqual(['server_stop: 7'])
  expect(Number(metrics.get('job_age_seconds')?.[0]?.value)).toBeGreaterThanOrEqual(1_800)
  expect(Number(metrics.get('outbox_age_seconds')?.[0]?.value)).toBeGreaterThanOrEqual(120)
  expect(brief(metrics.get('calls_total'))).toContain('ec2 launch refused: 3')
  expect(brief(metrics.get('webhooks_total'))).toEqual(['failed: 2'])
})

test('escapes what a label may contain', () => {
  const nasty = 'a "quoted"\\ thing\nand a line'
  const text = toPrometheus([{ name: 'x', type: 'gauge', help: nasty, samples: [{ labels: { of: nasty }, value: 1 }] }])
  expect(text.split('\n')).toHaveLength(4)
  const [parsed] = parse(text)
  expect(parsed?.metrics).toEqual([{ value: '1', labels: { of: nasty } }])
})

test('the Grafana dashboard asks for metrics that exist, and shows every one', async () => {
  const dashboard = readFileSync(new URL('../../../../infra/grafana.json', import.meta.url), 'utf8')
  const text = await (await ask(NEW)).text()
  const known = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  const { panels } = JSON.parse(dashboard) as { panels: { targets?: { expr: string }[] }[] }
  const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const asked = new Set(exprs.flatMap((expr) => expr.match(/proving_ground_\w+/g) ?? []))
  expect([...asked].sort()).toEqual(known.sort())
})
