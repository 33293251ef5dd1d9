import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { migrateDatabase } from '../../db/migrate.ts'
import { startSqld } from '../../dev/sqld.ts'

/** A libSQL server for this test file alone, so that it may decide how many places the fleet has. */
export async function ownDatabase(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-db-'))
  const sqld = await startSqld({ dataDir })
  afterAll(async () => {
    await sqld.close()
    rmSync(dataDir, { recursive: true, force: true })
  })
  await migrateDatabase(sqld.url)
  return sqld.url
}
