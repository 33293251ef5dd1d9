import type { JobRow, RunRow } from '../../../../db/schema.ts'
import type { Context } from '../../context.ts'

/** What one step of a job is given. */
export type StepInput = {
  ctx: Context
  job: JobRow
  run: RunRow
  /** Tells the person what is happening now. Kept with the job and pushed; saying the same again does nothing. */
  report: (progress: string) => Promise<void>
}

/** How a step ends. A finished job was written down by the step itself, together with what it finished. */
export type Outcome = { wait: number } | 'finished'

/** One step, safe to repeat: it looks at what is there, does the next thing, and says when to look again. */
export type Step = (input: StepInput) => Promise<Outcome>
