import { expect, test } from 'vitest'
import { places, runs } from '../../../../db/schema/fleet.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { change, openSite } from '../../../../testing/stack/site.ts'

const site = await openSite()
const SENTENCE = /^You can start 10 servers in 10 minutes\. Try again in 9m \d+s\.$/
const START = '/api/v1/aws/auto_cloud_start_request'

/** Someone who started and canceled ten servers in a row, and a free place. */
async function tenTimes() {
  const person = await site.signInAs('user')
  await site.giveEndedTrial(person.userId)
  const placeId = newId('srv')
  await site.db.insert(places).values({ id: placeId, instanceType: 'g6', availabilityZone: 'a', position: 1 })
  await site.db.insert(runs).values(
    Array.from({ length: 10 }, (_, i) => {
      const at = Date.now() - i * 1000
      return { id: newId('ses'), userId: person.userId, placeId, instanceType: 'g6', requestedAt: at, endedAt: at + 1 }
    }),
  )
  return { ...person, placeId }
}

test.each([START, '/api/v1/aws/start'])(
  'too many starts at %s: 429, the time to wait, and a sentence',
  async (path) => {
    const { cookie, placeId } = await tenTimes()
    const refused = await change(site, 'POST', path, cookie, { server_id: placeId })
    const body = (await refused.json()) as { error: string; errors: string[] }
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(580)
    expect(Number(refused.headers.get('Retry-After'))).toBeLessThanOrEqual(600)
    expect(body).toMatchObject({ error: expect.stringMatching(SENTENCE), errors: [expect.stringMatching(SENTENCE)] })
  },
)
