import type { AuditLine } from './audit.ts'
import type { Server } from './wire/fleet.ts'

/** What the console knows about a person. Times are ISO 8601. */
export type FoundPerson = {
  id: string
  name: string
  email: string
  admin: boolean
  created_at: string
  state: 'active' | 'unconfirmed' | 'suspended' | 'closed'
}

export type PersonDetails = FoundPerson & {
  held_at: string | null
  suspended_at: string | null
  closed_at: string | null
  has_factor: boolean
  /** When an operator's removal of it is due. */
  factor_removal_at: string | null
  stripe_customer_id: string | null
  plan: { type: string; status: string; hours: number; paid_through_stripe: boolean } | null
  runs: (Server & { cost_so_far: number; instance_id: string | null })[]
  bills: {
    id: string
    start: string
    end: string
    seconds: number
    dollars: number
    status: string
    corrects: string | null
    /** An operator holds its invoice, or may. */
    held: boolean
    holdable: boolean
  }[]
  sign_ins: { id: string; user_agent: string | null; address: string | null; last_seen_at: string }[]
  acts: AuditLine[]
}
