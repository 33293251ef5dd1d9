import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Schedule } from './schedule.ts'

/** Each broke a rule of the product until we mended it, or breaks one with its planted mistake, which seeds rarely catch. */
export const KEPT: { found: string; mistake: string; schedule: Schedule }[] = readFileSync(
  join(import.meta.dirname, 'regressions.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

/** `npm run sim -- --mutants` checks that each still breaks with its mistake. */
export function schedulesOf(mutant: string): Schedule[] {
  return KEPT.filter(({ mistake }) => mistake === mutant).map(({ schedule }) => schedule)
}
