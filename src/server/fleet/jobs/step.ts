import type { JobRow, RunRow } from '../../../../db/schema/fleet.ts'
import type { ServerFrame } from '../../../domain/cable.ts'
import type { Server } from '../../../domain/wire/fleet.ts'
import type { Context } from '../../runtime/context.ts'

/** Pushes what happens to a server to its owner's open pages. */
export type Tell = (event: ServerFrame, server: Server) => void

/** The input of one step. */
export type StepInput = {
  ctx: Context
  /** As we found it: `queued` at its first step. */
  job: JobRow
  run: RunRow
  /** Tells the person what is happening. Stored with the job and pushed; repeating a text does nothing. */
  report: (progress: string) => Promise<void>
}

/** How a step ends. A step that returns 'finished' has already recorded that, together with its work. */
export type Outcome = { wait: number } | 'finished'

/** One step, safe to repeat: it checks the current state, does the next thing, and says when to look again. */
export type Step = (input: StepInput) => Promise<Outcome>

/** How long a start waits before it asks again, of EC2 or of the machine. */
export const LOOK_AGAIN_MS = 2_000
