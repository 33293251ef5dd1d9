import { expect, test } from 'vitest'
import { freePort } from '../../dev/free-port.ts'
import { startGuard } from '../../dev/guard.ts'
import { startSqld } from '../../dev/sqld.ts'
import { atEnd, temporaryFolder } from '../../testing/stack/at-end.ts'
import { openTestDatabase } from '../../testing/stack/database.ts'

test('a server that hangs is replaced at the same address and keeps what was written', async () => {
  const guard = startGuard()
  atEnd(guard.close)
  const sqld = await startSqld({
    dataDir: temporaryFolder('proving-ground-sqld'),
    port: await freePort(),
    guard,
    look: { everyMs: 100, patienceMs: 1_500 },
  })
  atEnd(sqld.close)
  const { $client } = openTestDatabase(sqld.url)
  await $client.execute('CREATE TABLE notes (text)')
  await $client.execute("INSERT INTO notes VALUES ('kept')")

  const hung = sqld.pid()
  process.kill(hung, 'SIGSTOP')
  await expect.poll(sqld.pid).not.toBe(hung)
  expect((await $client.execute('SELECT text FROM notes')).rows).toEqual([{ text: 'kept' }])
  expect(() => process.kill(hung, 0)).toThrow('ESRCH')
})
