import { expect, test } from 'vitest'
import { places, runs, serverRequests } from '../../../../db/schema/fleet.ts'
import { contactMessages } from '../../../../db/schema/operations.ts'
import type { Instance } from '../../../../src/domain/wire/fleet.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { openSite } from '../../../../testing/stack/site.ts'
import { localEc2 } from '../../../dev/ec2/local-ec2.ts'

const get = (
  site: Awaited<ReturnType<typeof openSite>>,
  path: string,
  cookie: string,
  headers: Record<string, string> = {},
) => site.request(path, { headers: { Cookie: cookie, ...headers } })

const tagged = (tags: Record<string, string>) => ({
  TagSpecifications: [
    { ResourceType: 'instance' as const, Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) },
  ],
})

test('an admin sees all our instances, their owners, and their cost', async () => {
  const cloud = await localEc2()
  const site = await openSite({ EC2_ENDPOINT: cloud.ec2.endpoint })
  const owner = await site.signInAs('user')
  const run = newId('ses')
  const ours = await cloud.launchOne(tagged({ app: 'proving-ground', Name: 'one of ours', session: run }))
  cloud.advance(1000)
  const unknown = await cloud.launchOne(tagged({ app: 'proving-ground', session: 'ses_of-another-stage' }))
  await cloud.launchOne(tagged({ app: 'something else' }))
  cloud.advance(60_000)
  await site.db.insert(places).values({
    id: newId('srv'),
    instanceType: 'g6.4xlarge',
    availabilityZone: 'us-east-1a',
    position: 1,
  })
  const [place] = await site.db.select().from(places)
  const runningAt = Date.now() - 7_200_000
  await site.db.insert(runs).values({
    id: run,
    userId: owner.userId,
    placeId: place?.id ?? '',
    instanceType: 'g6.4xlarge',
    requestedAt: runningAt - 5_000,
    runningAt,
    billedFrom: runningAt,
    meteredUntil: runningAt + 3_600_000,
    instanceId: ours,
  })

  const { cookie } = await site.signInAs('admin')
  const answer = await get(site, '/api/v1/instances', cookie)
  expect(answer.status).toBe(200)
  const [newer, older, ...more] = (await answer.json()) as Instance[]
  expect(more).toEqual([])
  expect(newer).toMatchObject({ instance_id: unknown, owner_email: null, cost_dollars: null })
  expect(older).toMatchObject({
    instance_id: ours,
    name: 'one of ours',
    state: 'running',
    status_check: 'ok',
    owner_email: `${owner.userId.toLowerCase()}@example.com`,
  })
  // 3,600 s, or one less if the run started within a second, at $0.0004861.
  expect(older?.cost_dollars).toBeOneOf([1.74996, 1.7494739])

  expect(older).toMatchObject({ run_id: run, owner_id: owner.userId })
  expect(answer.headers.get('X-Instances')).toBeNull()

  const onePage = await get(site, '/api/v1/instances?q=ours', cookie, { 'X-Page': '1' })
  expect(await onePage.json()).toMatchObject([{ instance_id: ours }])
  const about = JSON.parse(onePage.headers.get('X-Instances') ?? '')
  expect(about).toMatchObject({ found: 1, page: 1, figures: { all: 2, running: 2 } })

  const record = await (await get(site, `/admin/runs/${run}`, cookie)).text()
  for (const fact of [run, ours, `/admin/people/${owner.userId}`, '$1.75', 'at list price'])
    expect(record).toContain(fact)
  expect((await get(site, '/admin/runs/ses_none', cookie)).status).toBe(404)

  const page = await (await get(site, '/console?sort=name&q=ours', cookie)).text()
  expect(page).toContain('one of ours')
  expect(page).toContain('1 of 2')
})

test('tells everyone else that they may not', async () => {
  const site = await openSite()
  const user = await site.signInAs('user')
  const refused = await get(site, '/api/v1/instances', user.cookie)
  expect(await refused.json()).toMatchObject({ error: 'You are not allowed to do that.' })
})

test('when the cloud does not answer, the call says so in a sentence, and the page still loads', async () => {
  const site = await openSite()
  const { cookie } = await site.signInAs('admin')
  const answer = await get(site, '/api/v1/instances', cookie)
  expect(answer.status).toBe(503)
  const sentence = 'The cloud provider did not answer. Please try again in a moment.'
  const said = { code: 'unavailable', error: sentence, message: sentence, errors: [sentence] }
  expect(await answer.json()).toEqual({ ...said, vendor_code: expect.any(String) })
  const page = await get(site, '/console', cookie)
  expect(page.status).toBe(200)
  const html = await page.text()
  expect(html).toContain('Error: HTTP 503')
  expect(html).toContain(sentence)
  expect(html).toContain('data-island="Console"')
  expect(site.takeLines()).toMatchObject([
    { event: 'request_failed', path: '/api/v1/instances', requestId: answer.headers.get('X-Request-Id') },
    { event: 'request_failed', path: '/console' },
  ])
})

test('reads messages to sales and requests for more servers newest first, page by page, each once', async () => {
  const site = await openSite()
  const user = await site.signInAs('user')
  const { cookie } = await site.signInAs('admin')
  const at = Date.UTC(2026, 10, 1)
  // 60 messages and 20 requests, many in the same millisecond.
  await site.db.insert(contactMessages).values(
    Array.from({ length: 60 }, (_, i) => ({
      id: newId('msg'),
      name: `Writer ${i}`,
      email: 'writer@example.com',
      source: 'Referral',
      message: `message number ${i}.`,
      createdAt: at + Math.floor(i / 7),
    })),
  )
  await site.db
    .insert(serverRequests)
    .values(Array.from({ length: 20 }, (_, i) => ({ id: newId('req'), userId: user.userId, createdAt: at + (i % 9) })))
  const pages: string[] = []
  for (let path: string | null = '/console/messages'; path; ) {
    const html: string = await (await get(site, path, cookie)).text()
    pages.push(html)
    path = /href="(\/console\/messages\?before=[^"]+)"/.exec(html)?.[1] ?? null
  }
  expect(pages.map((html) => html.match(/<article>/g)?.length)).toEqual([50, 30])
  const all = pages.join('')
  for (let i = 0; i < 60; i++) expect(all.split(`message number ${i}.`)).toHaveLength(2)
  expect(all.match(/Wants to run more than one server/g)).toHaveLength(20)
  const times = [...all.matchAll(/<time dateTime="([^"]+)"/gi)].map(([, time]) => time)
  expect(times).toEqual([...times].sort().reverse())
})
