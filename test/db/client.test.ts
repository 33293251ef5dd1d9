import { createClient } from '@libsql/client'
import { eq, sql } from 'drizzle-orm'
import { expect, inject, test, vi } from 'vitest'
import { isUniqueViolation, openDatabase, readInPieces, writeBatch } from '../../db/client.ts'
import { users } from '../../db/schema/accounts.ts'
import { AppError } from '../../src/domain/error.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { testDatabase } from '../../testing/stack/database.ts'

const newUser = () => {
  const id = newId('user')
  return { id, email: `${id}@example.com`.toLowerCase(), name: 'Ada', passwordHash: '', createdAt: 0 }
}

test('a write batch applies all of its statements', async () => {
  const db = testDatabase()
  const user = newUser()
  const [insert, update] = await writeBatch(db, [
    db.insert(users).values(user),
    db.run(sql`UPDATE users SET name = 'Grace' WHERE id = ${user.id}`),
  ])
  expect([insert?.rowsAffected, update?.rowsAffected]).toEqual([1, 1])
  expect(await db.select({ name: users.name, admin: users.admin }).from(users).where(eq(users.id, user.id))).toEqual([
    { name: 'Grace', admin: false },
  ])
})

test('half an emoji holds up neither a batch nor a query', async () => {
  const db = testDatabase()
  const user = { ...newUser(), name: 'Ada 🚁'.slice(0, -1) }
  await writeBatch(db, [db.insert(users).values(user)])
  const [found] = await db.select({ name: users.name }).from(users).where(eq(users.name, user.name)).limit(1)
  expect(found?.name).toBe('Ada \ufffd')
})

test('a write batch that fails applies none of them', async () => {
  const db = testDatabase()
  const user = newUser()
  const twice = writeBatch(db, [db.insert(users).values(user), db.insert(users).values(user)])
  const error = await twice.catch((e) => e)
  expect(isUniqueViolation(error)).toBe(true)
  expect(await db.$count(users, eq(users.id, user.id))).toBe(0)
})

/** An answer that starts well and then breaks off. */
const breaksOff: typeof fetch = async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"baton":null'))
      controller.error(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
    },
  })
  return new Response(body, { headers: { 'Content-Type': 'application/json' } })
}

test.each([
  ['that is unreachable', openDatabase('http://127.0.0.1:1')],
  ['that fails', openDatabase('http://127.0.0.1:1', undefined, async () => new Response('', { status: 500 }))],
  ['that breaks off mid-answer', openDatabase('http://127.0.0.1:1', undefined, breaksOff)],
])('a database %s yields one clear error', async (_, db) => {
  const error = await db
    .select()
    .from(users)
    .catch((e) => e)
  let found: unknown
  for (let e = error; e; e = e.cause) if (e instanceof AppError) found = e.code
  expect(found).toBe('unavailable')
})

test('a database with too many requests is asked again, and then yields the same error', async () => {
  vi.useFakeTimers()
  let refusals = 3
  const crowded: typeof fetch = async (...asked) =>
    refusals-- > 0 ? new Response('', { status: 429 }) : fetch(...asked)
  const asking = openDatabase(inject('databaseUrl'), undefined, crowded).$count(users, eq(users.id, 'nobody'))
  await vi.advanceTimersByTimeAsync(1_000)
  vi.useRealTimers()
  expect([await asking, refusals]).toEqual([0, -1])

  vi.useFakeTimers()
  refusals = Number.POSITIVE_INFINITY
  const failed = openDatabase('http://127.0.0.1:1', undefined, crowded)
    .$count(users)
    .then(String, (error: Error) => error)
  await vi.advanceTimersByTimeAsync(20_000)
  vi.useRealTimers()
  expect(await failed).toMatchObject({ cause: { code: 'unavailable' } })
})

test("a write waits for another writer's lock and then succeeds", async () => {
  const db = testDatabase()
  const user = newUser()
  const holder = createClient({ url: inject('databaseUrl') })
  const transaction = await holder.transaction('write')
  await transaction.execute({ sql: 'UPDATE users SET name = name WHERE id = ?', args: ['nobody'] })
  const write = writeBatch(db, [db.insert(users).values(user)])
  setTimeout(() => void transaction.commit().finally(() => holder.close()), 300)
  expect((await write)[0]?.rowsAffected).toBe(1)
})

test('a long list is read as fast as its reader takes it', async () => {
  const asked: (number | undefined)[] = []
  const pieces = readInPieces<number>(async (last, limit) => {
    asked.push(last)
    return last === undefined ? Array.from({ length: limit }, (_, i) => i) : [limit]
  })
  const first = (await pieces.next()).value as number[]
  expect(asked).toEqual([undefined])
  expect((await pieces.next()).value).toEqual([first.length])
  expect(asked).toEqual([undefined, first.length - 1])
  expect((await pieces.next()).done).toBe(true)
})
