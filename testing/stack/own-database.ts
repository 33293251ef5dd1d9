import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { migrateDatabase } from '../../db/migrate.ts'
import { startSqld } from '../../dev/sqld.ts'
import { openTestDatabase } from './database.ts'

/** A libSQL server for one test file whose work crosses users: any delivery, for example, sends all waiting mail. */
export async function ownDatabase() {
  const dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-own-'))
  const sqld = await startSqld({ dataDir })
  await migrateDatabase(sqld.url)
  afterAll(async () => {
    await sqld.close()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return Object.assign(openTestDatabase(sqld.url), { url: sqld.url })
}
