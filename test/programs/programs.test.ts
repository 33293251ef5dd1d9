import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

/** The files a program includes. What they import belongs to another program or to a package. */
function filesOf(program: string): string[] {
  const args = ['-p', `tsconfig.${program}.json`, '--showConfig']
  const shown = execFileSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: ROOT, encoding: 'utf8' })
  return (JSON.parse(shown) as { files: string[] }).files.map((file) => file.replace('./', ''))
}

const programs = ['domain', 'browser', 'worker', 'cli', 'node'].map((name) => ({ name, files: filesOf(name) }))
const programsOf = (file: string) => programs.filter(({ files }) => files.includes(file)).map(({ name }) => name)

test("each source belongs to one program; tests and scripts belong to Node's", () => {
  const sources = globSync('{src,db,dev,test,bench,scripts,cli/src}/**/*.{ts,tsx}', { cwd: ROOT })
  expect(sources.length).toBeGreaterThan(500)
  expect(sources.filter((file) => !file.endsWith('.d.ts') && programsOf(file).length !== 1)).toEqual([])
})

test.each([
  ['src/domain/money/bill.ts', 'domain'],
  ['src/islands/Dashboard.tsx', 'browser'],
  ['src/ui/Field.tsx', 'browser'],
  ['src/client.tsx', 'browser'],
  ['src/pages/Dashboard.tsx', 'worker'],
  ['src/server/index.ts', 'worker'],
  ['db/schema/fleet.ts', 'worker'],
  ['db/migrate.ts', 'node'],
  ['cli/src/main.ts', 'cli'],
  ['dev/main.ts', 'node'],
  ['vite.config.ts', 'node'],
])('%s belongs to the %s', (file, program) => expect(programsOf(file)).toEqual([program]))

/** The file beside this one named after a program tries what must not exist in it. */
test.each(['domain', 'browser', 'worker'])('the %s rejects what its platform lacks', (program) => {
  expect(programsOf(`test/programs/${program}.ts`)).toEqual([program])
})
