import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { migrateDatabase } from '../../db/migrate.ts'
import { startGuard } from '../../dev/guard.ts'
import { startSqld } from '../../dev/sqld.ts'
import { openTestDatabase } from './database.ts'

/** A libSQL server for one test file whose work crosses users: any delivery, for example, sends all waiting mail. */
export async function ownDatabase() {
  const dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-own-'))
  const sqld = await startSqld({ dataDir })
  // Vitest may end this process first, and it calls no hooks if all of the file's tests are skipped.
  const guard = startGuard()
  guard.watch(sqld.pid)
  await migrateDatabase(sqld.url)
  afterAll(async () => {
    await sqld.close()
    guard.close()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return Object.assign(openTestDatabase(sqld.url), { url: sqld.url })
}
