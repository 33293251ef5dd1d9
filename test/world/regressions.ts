import regressions from './regressions.json' with { type: 'json' }
import type { Schedule } from './schedule.ts'

const KEPT = regressions as { found: string; mistake: string; schedule: Schedule }[]
const isPlanted = ({ found }: (typeof KEPT)[number]) => found.startsWith('planted ')

/** Each broke a rule of the product until we mended it. */
export const FOUND = KEPT.filter((kept) => !isPlanted(kept))
/** Each breaks a rule only with its planted mistake, which seeds rarely catch. */
export const PLANTED = KEPT.filter(isPlanted)

/** `npm run sim -- --mutants` checks that each still breaks with its mistake. */
export function schedulesOf(mutant: string): Schedule[] {
  return KEPT.filter(({ mistake }) => mistake === mutant).map(({ schedule }) => schedule)
}
