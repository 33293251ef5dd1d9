import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Schedule } from './schedule.ts'

/** A line each. */
const KEPT: { found: string; mistake: string; schedule: Schedule }[] = readFileSync(
  join(import.meta.dirname, 'regressions.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const isPlanted = ({ found }: (typeof KEPT)[number]) => found.startsWith('planted ')

/** Each broke a rule of the product until we mended it. */
export const FOUND = KEPT.filter((kept) => !isPlanted(kept))
/** Each breaks a rule only with its planted mistake, which seeds rarely catch. */
export const PLANTED = KEPT.filter(isPlanted)

/** `npm run sim -- --mutants` checks that each still breaks with its mistake. */
export function schedulesOf(mutant: string): Schedule[] {
  return KEPT.filter(({ mistake }) => mistake === mutant).map(({ schedule }) => schedule)
}
