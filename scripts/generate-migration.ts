import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { generateSQLiteDrizzleJson } from 'drizzle-kit/api'

const META = 'db/migrations/meta'
const BEFORE = 'db/schema-before'
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
const clean = () => {
  for (const left of [BEFORE, ...globSync(`${META}/*_snapshot.json`)]) rmSync(left, { force: true, recursive: true })
}

/**
 * `npm run db:generate`: drizzle-kit compares the schema with a snapshot of the last migration's: 5,000 lines that
 * repeat that commit's schema. So we make the snapshot from there, and keep none.
 */
if (git('status', '--porcelain', 'db/migrations'))
  throw new Error(
    'You have a migration that is not committed. Remove it (its .sql, its entry in the journal), and try again.',
  )
const { entries } = JSON.parse(readFileSync(`${META}/_journal.json`, 'utf8'))
const last = git('log', '-1', '--format=%H', '--', `db/migrations/${entries.at(-1).tag}.sql`)
clean()
try {
  mkdirSync(BEFORE)
  // When 0000 was committed, the schema was one file.
  const files = git('ls-tree', '-r', '--name-only', last, 'db/schema', 'db/schema.ts').split('\n')
  for (const file of files) writeFileSync(`${BEFORE}/${basename(file)}`, git('show', `${last}:${file}`))
  const parts = await Promise.all(files.map((file) => import(resolve(BEFORE, basename(file)))))
  const snapshot = await generateSQLiteDrizzleJson(Object.assign({}, ...parts))
  writeFileSync(`${META}/${String(entries.length - 1).padStart(4, '0')}_snapshot.json`, JSON.stringify(snapshot))
  execFileSync(process.execPath, ['node_modules/drizzle-kit/bin.cjs', 'generate', ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
} finally {
  clean()
}
