/** A run for the console, with everything we tried for it. Times are ISO 8601. */
export type RunRecord = {
  id: string
  state: 'starting' | 'running' | 'stopping' | 'ended'
  owner: { id: string; name: string; email: string }
  instance_type: string
  availability_zone: string | null
  place_id: string
  instance_id: string | null
  ip_address: string | null
  error_message: string | null
  /** Whole seconds on the meter, and what they cost at list price. */
  seconds: number
  cost_dollars: number
  /** What happened when, oldest first. */
  times: { what: string; at: string }[]
  launches: {
    token: string
    place_id: string
    created_at: string
    outcome: string
    instance_id: string | null
    refusal_code: string | null
    refusal_request_id: string | null
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
