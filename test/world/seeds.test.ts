import { expect, test } from 'vitest'
import './faster-drizzle.ts'
import { openWorldDatabase } from './database.ts'
import { runSeed } from './run-seed.ts'
import { takeOverRandomness } from './seeded-crypto.ts'

test('no rule breaks in the first 50 worlds', async () => {
  takeOverRandomness()
  const database = await openWorldDatabase()
  for (let seed = 1; seed <= 50; seed++)
    expect((await runSeed(database, seed)).broken, `npm run sim -- --seed ${seed} --trace`).toBeNull()
})
