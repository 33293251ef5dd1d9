import type { Database } from '../../db/client.ts'
import type { Random } from '../random.ts'
import { throughCalls } from './database.ts'

export type DatabaseFault = 'database away' | 'database answer lost'

/** The same database with some calls that fail, before or after they take effect. */
export function flakyDatabase(db: Database, count: (fault: DatabaseFault) => void) {
  let next: { fault: DatabaseFault; after: number } | null = null
  const { $client } = db
  async function call<T>(effect: () => Promise<T>): Promise<T> {
    if (!next || next.after-- > 0) return effect()
    const { fault } = next
    next = null
    count(fault)
    if (fault === 'database answer lost') await effect()
    throw new Error(`${fault} (injected)`)
  }
  const execute = (...args: Parameters<typeof $client.execute>) => call(() => $client.execute(...args))
  const batch = (...args: Parameters<typeof $client.batch>) => call(() => $client.batch(...args))
  return {
    db: throughCalls(db, { execute: execute as typeof $client.execute, batch }),
    inject(random: Random) {
      next = { fault: random.pick(['database away', 'database answer lost']), after: random.between(0, 12) }
    },
    heal() {
      next = null
    },
  }
}
