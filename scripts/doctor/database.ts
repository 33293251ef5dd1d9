import { isNull } from 'drizzle-orm'
import { openDatabase } from '../../db/client.ts'
import { type PlaceRow, places } from '../../db/schema/fleet.ts'
import { isMigrated } from '../../src/server/runtime/ready.ts'
import type { Settings } from '../environment.ts'
import { databaseSentence } from '../failure.ts'
import { type Finding, fail, ok } from './check.ts'

/** Also returns the places in use, for the AWS checks. */
export async function checkDatabase(settings: Settings): Promise<{ findings: Finding[]; inUse: PlaceRow[] }> {
  const none = (finding: Finding) => ({ findings: [finding], inUse: [] })
  try {
    const db = openDatabase(settings.LIBSQL_URL ?? '', settings.LIBSQL_AUTH_TOKEN)
    const [table] = await db.all<{ name: string }>(`SELECT name FROM sqlite_master WHERE name = '__drizzle_migrations'`)
    if (!table || !(await isMigrated(db)))
      return none(fail('database', 'It lacks migrations. Run "npm run db:migrate".'))
    const inUse = await db.select().from(places).where(isNull(places.retiredAt))
    const count = inUse.length
      ? ok('places', `${inUse.length} in use`)
      : fail('places', 'There are none, so nobody can start a server. Add some: "npm run fleet -- add …".')
    return { findings: [ok('database', 'it answers and has every migration'), count], inUse }
  } catch (error) {
    return none(fail('database', databaseSentence(error)))
  }
}
