import { inArray } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { lineGroupPeople } from '../../../../db/schema/line.ts'
import { MOST_GROUP_PEOPLE } from '../../../../src/domain/line-group.ts'
import { enterGroupCode } from '../../../../src/server/fleet/line/group-code.ts'
import { removePeople } from '../../../../src/server/fleet/line/group-people.ts'
import { type Customer, freshPlaces, newCustomer } from '../../../../testing/world/fleet.ts'
import { openGroups } from '../../../../testing/world/groups.ts'
import { pressStart } from '../../../../testing/world/play.ts'

const { world, ctx, hand, empty, group, customers } = await openGroups()
beforeEach(empty)

test('a code lets its people in, however they write it, and only until the end', async () => {
  await freshPlaces(world, 2)
  const [ada, ben, cleo] = (await customers(3)) as [Customer, Customer, Customer]
  const { code, endsAt } = await group({ count: 2, fromMs: 1_000 })
  expect(code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/)
  await enterGroupCode(ctx, ada.user.id, ` ${code?.toLowerCase().replace('-', ' ')}`)
  await enterGroupCode(ctx, ada.user.id, code ?? '')
  world.advance(1)
  await pressStart(world, ada)
  await expect(pressStart(world, ben)).rejects.toMatchObject({ code: 'no_capacity' })
  const at = (ms: number) => ({ ...ctx, now: () => ms })
  await enterGroupCode(at(endsAt - 1), ben.user.id, code ?? '')
  await expect(enterGroupCode(at(endsAt), cleo.user.id, code ?? '')).rejects.toMatchObject({ code: 'invalid' })
  expect(await world.db.$count(lineGroupPeople)).toBe(2)
})

test('who was removed stays out: the code they know is over', async () => {
  const [ada, ben] = (await customers(2)) as [Customer, Customer]
  const { id, code } = await group()
  for (const one of [ada, ben]) await enterGroupCode(ctx, one.user.id, code ?? '')
  const next = await removePeople(ctx, hand, id, [ada.user.email])
  await expect(enterGroupCode(ctx, ada.user.id, code ?? '')).rejects.toMatchObject({ code: 'invalid' })
  expect(await world.db.$count(lineGroupPeople)).toBe(1)
  // A removal that came too late changes nothing.
  await expect(removePeople(ctx, hand, id, [ada.user.email])).rejects.toMatchObject({ code: 'conflict' })
  await enterGroupCode(ctx, ada.user.id, next ?? '')
})

test('a code cannot be guessed', async () => {
  const [cheat] = await customers(1)
  const { code } = await group()
  const codes: string[] = []
  for (let n = 0; n < 40; n++)
    await enterGroupCode(ctx, cheat.user.id, `BBBB-BB${n % 2 ? 'BC' : 'CB'}`).catch((error) => codes.push(error.code))
  expect(codes[0]).toBe('invalid')
  expect(codes.at(-1)).toBe('too_many')
  // Not even the right one then.
  await expect(enterGroupCode(ctx, cheat.user.id, code ?? '')).rejects.toMatchObject({ code: 'too_many' })
})

test('a right code gives nobody more guesses at the others', async () => {
  const [cheat] = await customers(1)
  const { code } = await group()
  const answers: string[] = []
  for (let n = 0; n < 40; n++)
    await enterGroupCode(ctx, cheat.user.id, n % 4 ? 'BBBB-BBBC' : (code ?? '')).catch((error) =>
      answers.push(error.code),
    )
  expect(answers[0]).toBe('invalid')
  expect(answers.at(-1)).toBe('too_many')
})

test('a code is no plan', async () => {
  await freshPlaces(world, 1)
  const over = await newCustomer(world, { demo: true, secondsUsed: 1_800 })
  const { code } = await group()
  await enterGroupCode(ctx, over.user.id, code ?? '')
  await expect(pressStart(world, over)).rejects.toMatchObject({ code: 'no_minutes' })
})

test('a right code says why it lets no more in, and is no wrong guess', async () => {
  const [ada, twin, late] = (await customers(3)) as [Customer, Customer, Customer]
  await world.db
    .update(users)
    .set({ mailbox: 'shared' })
    .where(inArray(users.id, [ada.user.id, twin.user.id]))
  const { id, code } = await group({ withCode: true })
  await enterGroupCode(ctx, ada.user.id, code ?? '')
  const enter = (one: Customer) => enterGroupCode(ctx, one.user.id, code ?? '')
  for (let n = 0; n < 10; n++)
    await expect(enter(twin)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Another account of your mailbox'),
    })
  const others = Array.from({ length: MOST_GROUP_PEOPLE - 1 }, (_, i) => ({
    groupId: id,
    email: `pupil${i}@example.com`,
    joinedAt: 1,
  }))
  await world.db.insert(lineGroupPeople).values(others)
  await expect(enter(late)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('full') })
  // They are in, so they may enter it again.
  await enter(ada)
})
