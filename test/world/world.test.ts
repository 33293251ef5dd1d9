import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { beforeAll, expect, test } from 'vitest'
import '../../testing/stack/faster-drizzle.ts'
import { openWorldDatabase, type WorldDatabase } from './database.ts'
import { listMutants, patched } from './mutants.ts'
import { REACH, whatIsMissing } from './reach.ts'
import { KEPT } from './regressions.ts'
import { CROWD_RULES } from './rules/crowd.ts'
import { QUIET_RULES } from './rules/quiet.ts'
import { RULES } from './rules.ts'
import { runSeed } from './run-seed.ts'
import { takeOverRandomness } from './seeded-crypto.ts'

let database: WorldDatabase
beforeAll(async () => {
  takeOverRandomness()
  database = await openWorldDatabase()
})

test('a state that was seen too rarely is missing, and so is one that was never seen', () => {
  const wanted = REACH.ordinary
  const reached = new Map(wanted.map((state) => [state, 10]))
  expect(whatIsMissing(reached, 2_000, wanted)).toEqual([])
  reached.set('wrong region', 9)
  reached.delete('fleet full')
  expect(whatIsMissing(reached, 2_000, wanted)).toHaveLength(2)
  expect(whatIsMissing(reached, 100, wanted)).toHaveLength(1)
})

test('each kept schedule names a planted mistake', () => {
  const names = listMutants().map(({ name }) => name)
  for (const { mistake } of KEPT) expect(names).toContain(mistake)
})

test('each planted mistake says which rule it breaks', () => {
  const rules = [...RULES, ...CROWD_RULES, ...QUIET_RULES].map(({ name }) => name)
  for (const { name, rule } of listMutants()) expect(['nothing-unexpected', ...rules], name).toContain(rule)
})

const FEW = [
  ['ordinary', 10],
  ['files', 5],
  ['accounts', 5],
  ['programs', 5],
  ['warm', 5],
] as const

test.each(FEW)('of the scenario %s, no rule breaks in the first %i worlds', async (scenario, count) => {
  for (let seed = 1; seed <= count; seed++)
    expect(
      (await runSeed(database, seed, scenario)).broken,
      `npm run sim -- --scenario ${scenario} --seed ${seed} --trace`,
    ).toBeNull()
})

test('docs/correctness.md has every rule, in its own words', () => {
  const text = readFileSync(new URL('../../docs/correctness.md', import.meta.url), 'utf8')
  for (const { name, sentence } of [...RULES, ...CROWD_RULES, ...QUIET_RULES])
    expect(text).toContain(`| ${name} | ${sentence} |`)
})

test.each(listMutants())('the planted mistake $name still fits the code', (mutant) => {
  const files = [...patched(mutant).values()]
  expect(files.length).toBeGreaterThan(0)
  for (const source of files) expect(() => stripTypeScriptTypes(source)).not.toThrow()
})
