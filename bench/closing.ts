import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, writeBatch } from '../db/client.ts'
import { migrateDatabase } from '../db/migrate.ts'
import { users } from '../db/schema/accounts.ts'
import { bills } from '../db/schema/billing.ts'
import { places, runs } from '../db/schema/fleet.ts'
import { startSqld } from '../dev/sqld.ts'
import { closeDueCycles } from '../src/server/billing/bills/close-cycles.ts'
import { testContext } from '../testing/stack/test-context.ts'

/** The cost of closing per account, with 100, 1,000, and 10,000 due at once, each with one run to bill. */
const start = Date.UTC(2028, 0, 1)
const due = Date.UTC(2028, 1, 1, 1)

for (const accounts of [100, 1_000, 10_000]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-closing-'))
  const sqld = await startSqld({ dataDir })
  await migrateDatabase(sqld.url)
  const db = openDatabase(sqld.url)
  await fill(accounts)
  const began = performance.now()
  await closeDueCycles(testContext({ db, now: () => due }), 1000)
  const ms = performance.now() - began
  const records = await db.$count(bills)
  if (records !== accounts) throw new Error(`Expected ${accounts} records, got ${records}`)
  console.log(`${accounts} accounts: ${(ms / accounts).toFixed(3)} ms each, ${(ms / 1000).toFixed(2)} s`)
  await sqld.close()
  rmSync(dataDir, { recursive: true, force: true })

  async function fill(count: number): Promise<void> {
    await db
      .insert(places)
      .values({ id: 'srv', instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', position: 0 })
    for (let first = 0; first < count; first += 100) {
      const ids = Array.from({ length: 100 }, (_, i) => `user_${first + i}`)
      await writeBatch(db, [
        db
          .insert(users)
          .values(ids.map((id) => ({ id, email: `${id}@example.com`, name: id, passwordHash: '', createdAt: start }))),
        db.insert(runs).values(
          ids.map((id) => ({
            id: `ses_${id}`,
            userId: id,
            placeId: 'srv',
            instanceType: 'g6.4xlarge',
            requestedAt: start + 1_000,
            runningAt: start + 40_000,
            billedFrom: start + 40_000,
            confirmedAt: start + 7_240_000,
            stopRequestedAt: start + 7_240_000,
            meteredUntil: start + 7_240_000,
            endedAt: start + 7_245_000,
            endedBecause: 'you' as const,
          })),
        ),
      ])
    }
  }
}
