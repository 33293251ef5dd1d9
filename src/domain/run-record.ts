import type { EndReason, RunErrorCode } from './run-end.ts'
import type { RunEvent } from './wire/fleet.ts'

/** A run for the console, with everything we tried for it. Times are ISO 8601. */
export type RunRecord = {
  id: string
  state: 'starting' | 'running' | 'stopping' | 'ended'
  owner: { id: string; name: string; email: string }
  instance_type: string
  availability_zone: string | null
  /** `Mountains, UGV`, and the container image if it isn't the machine's own. */
  world: string | null
  image: string | null
  place_id: string
  instance_id: string | null
  ip_address: string | null
  /** Whether its page has a door, and so is open only to its owner and their guests. */
  has_door: boolean
  /** Null while it is live. */
  ended_because: EndReason | null
  error_code: RunErrorCode | null
  error_message: string | null
  /** Whole seconds on the meter, and what they cost at list price. */
  seconds: number
  cost_dollars: number
  /** What happened when, oldest first, with what EC2 said. */
  events: RunEvent[]
  /** When we last saw its machine running. */
  seen_at: string | null
  launches: {
    token: string
    place_id: string
    outcome: string
    instance_id: string | null
    /** EC2's own record of it. */
    launched_at: string | null
    ended_at: string | null
    end_reason: string | null
  }[]
  jobs: {
    id: string
    kind: string
    status: string
    attempts: number
    error_code: string | null
    error_message: string | null
    created_at: string
    updated_at: string
  }[]
}
