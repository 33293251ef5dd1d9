import { desc, eq, sql } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { environments } from '../../../db/schema/fleet.ts'
import { auditLog } from '../../../db/schema/operations.ts'
import {
  addEnvironment,
  changeEnvironment,
  listCatalog,
  type NewEnvironment,
  retireEnvironment,
} from '../../../src/server/fleet/catalog.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'

const db = memoryDatabase()
const hand = { db, now: () => 1_000, by: { id: 'user_admin', reason: 'New map' } }
const HARBOR: NewEnvironment = { name: 'Harbor', description: 'Ships.', image: null, from: 'premium', position: null }
const EVERY = ['demo', 'basic', 'premium', 'enterprise']

afterEach(async () => {
  await db.delete(environments).where(sql`name NOT IN ('Blocks', 'Neighborhood', 'Mountains')`)
  await db.update(environments).set({ retiredAt: null })
})

const offered = async () => (await listCatalog({ db })).filter(({ retiredAt }) => retiredAt === null)
const latestAct = async () => {
  const [act] = await db.select().from(auditLog).orderBy(desc(sql`rowid`)).limit(1)
  return act && [act.act, act.actor, act.reason, act.detail && JSON.parse(act.detail)]
}

test('begins with the three that the plans name, in order, for everyone', async () => {
  expect((await offered()).map(({ name, plans, image }) => [name, plans, image])).toEqual([
    ['Blocks', EVERY, null],
    ['Neighborhood', EVERY, null],
    ['Mountains', EVERY, null],
  ])
})

test('an added environment comes last, for its plan and the larger ones, and is in the audit log', async () => {
  await addEnvironment(hand, { ...HARBOR, image: ':2.1' })
  expect((await offered()).at(-1)).toMatchObject({
    name: 'Harbor',
    plans: ['premium', 'enterprise'],
    image: ':2.1',
    position: 4,
  })
  expect(await latestAct()).toEqual([
    'add_environment',
    'user_admin',
    'New map',
    { name: 'Harbor', description: 'Ships.', image: ':2.1', plans: ['premium', 'enterprise'] },
  ])
  await addEnvironment(hand, { ...HARBOR, name: 'Airport', from: 'demo', position: 1 })
  expect((await offered()).find(({ name }) => name === 'Airport')).toMatchObject({ plans: EVERY, position: 1 })
})

test.each<[string, Partial<NewEnvironment>, string]>([
  ['a taken name', { name: 'blocks' }, 'There is already an environment called blocks.'],
  [
    'a name with a space',
    { name: 'City Park' },
    'A name begins with a letter and has up to 40 letters, digits, hyphens, and underscores.',
  ],
  ['no description', { description: '' }, 'The description must be one sentence of at most 160 characters.'],
  [
    'a description of several lines',
    { description: 'a\nb.' },
    'The description must be one sentence of at most 160 characters.',
  ],
  [
    'a description that is too long',
    { description: `${'x'.repeat(160)}.` },
    'The description must be one sentence of at most 160 characters.',
  ],
  [
    'an image with a space',
    { image: 'a b' },
    'The image must be a reference such as ghcr.io/example/harbor:1.2, or a :tag.',
  ],
  ['an empty tag', { image: ':' }, 'The image must be a reference such as ghcr.io/example/harbor:1.2, or a :tag.'],
  ['an unknown plan', { from: 'gold' }, 'The smallest plan must be one of demo, basic, premium, enterprise.'],
  ['a position of 0', { position: 0 }, 'The position must be a whole number from 1.'],
  ['no number as position', { position: Number.NaN }, 'The position must be a whole number from 1.'],
])('refuses %s and records nothing', async (_, change, message) => {
  const before = await latestAct()
  await expect(addEnvironment(hand, { ...HARBOR, ...change })).rejects.toMatchObject({ message })
  expect(await offered()).toHaveLength(3)
  expect(await latestAct()).toEqual(before)
})

test('changes what it is told to, and nothing else', async () => {
  await addEnvironment(hand, { ...HARBOR, image: 'ghcr.io/example/harbor:1' })
  await changeEnvironment(hand, 'harbor', { description: 'More ships.' })
  const harbor = { name: 'Harbor', image: 'ghcr.io/example/harbor:1', plans: ['premium', 'enterprise'], position: 4 }
  expect((await offered()).at(-1)).toMatchObject({ ...harbor, description: 'More ships.' })
  await changeEnvironment(hand, 'Harbor', { image: null, from: 'demo', position: 9 })
  expect((await offered()).at(-1)).toMatchObject({ name: 'Harbor', image: null, plans: EVERY, position: 9 })
  expect(await latestAct()).toEqual([
    'change_environment',
    'user_admin',
    'New map',
    { name: 'Harbor', image: null, position: 9, plans: EVERY },
  ])
  await expect(changeEnvironment(hand, 'Harbor', {})).rejects.toMatchObject({ code: 'invalid' })
  await expect(changeEnvironment(hand, 'Harbor', { image: 'UPPER' })).rejects.toMatchObject({ code: 'invalid' })
  await expect(changeEnvironment(hand, 'Moon', { position: 2 })).rejects.toMatchObject({ code: 'not_found' })
})

test('a retired environment is offered no longer, and its name is free again', async () => {
  await addEnvironment(hand, HARBOR)
  await retireEnvironment(hand, 'Harbor')
  expect(await offered()).toHaveLength(3)
  expect(await latestAct()).toEqual(['retire_environment', 'user_admin', 'New map', { name: 'Harbor' }])
  await expect(retireEnvironment(hand, 'Harbor')).rejects.toMatchObject({ code: 'not_found' })
  await addEnvironment(hand, HARBOR)
  expect(await listCatalog({ db })).toHaveLength(5)
})

test('no plan is left without an environment', async () => {
  await retireEnvironment(hand, 'Blocks')
  await retireEnvironment(hand, 'Neighborhood')
  const left = {
    code: 'conflict',
    message: 'A plan would have no environment without Mountains. Add another one first.',
  }
  await addEnvironment(hand, HARBOR)
  await expect(retireEnvironment(hand, 'Mountains')).rejects.toMatchObject(left)
  await expect(changeEnvironment(hand, 'Mountains', { from: 'basic' })).rejects.toMatchObject(left)
  await changeEnvironment(hand, 'Harbor', { from: 'demo' })
  await retireEnvironment(hand, 'Mountains')
  expect((await offered()).map(({ name }) => name)).toEqual(['Harbor'])
})

test("an account's own environments are not in the catalog", async () => {
  await db.run(
    sql`INSERT INTO users (id, email, name, password_hash, created_at) VALUES ('user_1', 'a@b.c', 'Ada', '', 0)`,
  )
  await db.insert(environments).values({
    id: 'env_own',
    name: 'Own',
    description: '',
    plans: ['premium'],
    userId: 'user_1',
    position: 1,
    createdAt: 0,
  })
  expect(await offered()).toHaveLength(3)
  await expect(retireEnvironment(hand, 'Own')).rejects.toMatchObject({ code: 'not_found' })
  await addEnvironment(hand, { ...HARBOR, name: 'Own' })
  await db.delete(environments).where(eq(environments.userId, 'user_1'))
})
