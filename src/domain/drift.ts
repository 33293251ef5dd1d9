/** How many instances one form may end: each takes four outside calls, and an invocation has a thousand. */
export const MOST_ENDS = 200

/** What differs between our records and EC2, for the console. Times are ISO 8601. */
export type Drift = {
  /** Alive at EC2, but no live run of this database owns it. */
  instances: { id: string; type: string; launched_at: string | null; run: string | null; user: string | null }[]
  /** Running here, but not alive at EC2. */
  runs: { id: string; user: string; instance: string | null; seen_at: string | null }[]
  /** A minute late, or failing. */
  jobs: {
    id: string
    user: string
    run: string
    kind: string
    attempts: number
    due_at: string
    progress: string | null
  }[]
  /** Ended runs whose meter and EC2's record differ by more than a minute, newest first. */
  differing: {
    id: string
    user: string
    ended_at: string
    difference: number | null
    taken_off: number
    credited: boolean
  }[]
}
