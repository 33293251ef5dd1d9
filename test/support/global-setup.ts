import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrateDatabase } from '../../db/migrate.ts'
import { startSqld } from '../../dev/sqld.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
  }
}

/** One real libSQL server for the whole run; every test makes its own user in it. */
export default async function setup(project: TestProject) {
  const dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-db-'))
  const sqld = await startSqld({ dataDir })
  await migrateDatabase(sqld.url)
  project.provide('databaseUrl', sqld.url)
  return async () => {
    await sqld.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
