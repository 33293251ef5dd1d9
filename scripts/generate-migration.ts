import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'

/** `npm run db:generate`: drizzle-kit compares the schema with its newest snapshot only, so we keep no other. */
execFileSync(process.execPath, ['node_modules/drizzle-kit/bin.cjs', 'generate', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
const META = 'db/migrations/meta'
const snapshots = readdirSync(META).filter((name) => name.endsWith('_snapshot.json'))
for (const old of snapshots.sort().slice(0, -1)) rmSync(`${META}/${old}`)
