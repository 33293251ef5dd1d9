import { expect, test } from 'vitest'
import { places, runs } from '../../db/schema.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { checkServerAddress } from '../../src/server/fleet/addresses.ts'
import type { Context } from '../../src/server/runtime/context.ts'
import { openSite } from '../../testing/stack/site.ts'

const site = await openSite()

const INTERNAL = [
  '127.0.0.1',
  'localhost',
  '0.0.0.0',
  '10.0.0.1',
  '192.168.1.1',
  '172.16.0.1',
  '169.254.169.254',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '::1',
  '[::1]',
  '::ffff:127.0.0.1',
  '[::ffff:7f00:1]',
  'fd00:ec2::254',
  '127.0.0.1:8080',
  'metadata.google.internal',
  '203.0.113.5@127.0.0.1',
  '203.0.113.5#.internal',
  ' 203.0.113.5',
  '203.0.113.5\r\nHost: x',
  '%',
  "' OR 1=1 --",
]

async function withRuns(...runRows: Partial<typeof runs.$inferInsert>[]) {
  const { userId } = await site.signInAs('user')
  for (const run of runRows) {
    const [placeId, id] = [newId('srv'), newId('ses')]
    await site.db.insert(places).values({ id: placeId, instanceType: 'g6', availabilityZone: 'a', position: 1 })
    await site.db.insert(runs).values({ id, userId, placeId, instanceType: 'g6', requestedAt: 1, runningAt: 1, ...run })
  }
  const probed: string[] = []
  const reach: Context['reach'] = async (host) => {
    probed.push(host)
    return { status: 'reachable' }
  }
  const check = (address: string) => checkServerAddress({ db: site.db, reach } as unknown as Context, userId, address)
  return { check, probed }
}

test('never contacts an internal address, in any notation', async () => {
  const { check, probed } = await withRuns({ ipAddress: '203.0.113.5' })
  for (const address of INTERNAL) await expect(check(address), address).rejects.toThrow('None of your running servers')
  expect(probed).toEqual([])
  await check('203.0.113.5')
  expect(probed).toEqual(['203.0.113.5'])
})

test('never contacts the address of a run that ended or is stopping: someone else may have it by now', async () => {
  const { check, probed } = await withRuns(
    { ipAddress: '203.0.113.6', endedAt: 5 },
    { ipAddress: '203.0.113.7', stopRequestedAt: 5 },
  )
  for (const address of ['203.0.113.6', '203.0.113.7']) await expect(check(address)).rejects.toThrow('None of your')
  expect(probed).toEqual([])
})
