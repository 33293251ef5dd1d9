import { migrateDatabase } from '../../db/migrate.ts'
import { startGuard } from '../../dev/guard.ts'
import { startSqld } from '../../dev/sqld.ts'
import { atEnd, temporaryFolder } from './at-end.ts'
import { openTestDatabase } from './database.ts'

/** A libSQL server for one test file whose work crosses users: any delivery, for example, sends all waiting mail. */
export async function ownDatabase() {
  const dataDir = temporaryFolder('proving-ground-own')
  // Vitest may end this process first, and it calls no hooks if all of the file's tests are skipped.
  const guard = startGuard()
  const sqld = await startSqld({ dataDir, guard })
  await migrateDatabase(sqld.url)
  atEnd(async () => {
    await sqld.close()
    guard.close()
  })
  return Object.assign(openTestDatabase(sqld.url), { url: sqld.url })
}
