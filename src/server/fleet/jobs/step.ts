import type { JobRow, RunRow } from '../../../../db/schema.ts'
import type { Context } from '../../context.ts'

/** The input of one step. */
export type StepInput = {
  ctx: Context
  job: JobRow
  run: RunRow
  /** Tells the person what is happening. Stored with the job and pushed; repeating a text does nothing. */
  report: (progress: string) => Promise<void>
}

/** How a step ends. A step that returns 'finished' has already recorded that, together with its work. */
export type Outcome = { wait: number } | 'finished'

/** One step, safe to repeat: it checks the current state, does the next thing, and says when to look again. */
export type Step = (input: StepInput) => Promise<Outcome>
