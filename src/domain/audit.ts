import { BYTE_ORDER_MARK, csvLine } from './csv.ts'

/** What an operator can do, in the words of the audit log. */
export const ACTS = {
  stop_run: 'Stopped a server',
  end_instance: 'Told EC2 to end an instance',
  end_instance_failed: 'Could not end the instance',
  suspend: 'Suspended an account',
  lift: 'Lifted a suspension',
  grant_plan: 'Granted a plan',
  end_plan: 'Ended a granted plan',
  correct_bill: 'Corrected a bill',
  hold_invoice: 'Held an invoice',
  release_invoice: 'Released an invoice',
  sign_out: 'Signed out everywhere',
  add_places: 'Added places',
  drain_place: 'Drained a place',
  resume_place: 'Resumed a place',
  retire_place: 'Retired a place',
  keep_warm: 'Set how many machines to keep warm',
  add_environment: 'Added an environment',
  change_environment: 'Changed an environment',
  retire_environment: 'Retired an environment',
  make_group: 'Held servers for a group',
  change_group: 'Changed a group',
  end_group: 'Ended a group',
  release_group: 'Released a group’s servers',
  make_admin: 'Made an admin',
  end_admin: 'Ended an admin’s rights',
  ask_no_factor: 'Will remove a lost second factor in a day',
  keep_factor: 'Kept a second factor',
  remove_factors: 'Removed a lost second factor',
  adopt_run: 'Adopted a server after a restore',
  end_lost_run: 'Ended a run after a restore',
} as const

export type Act = keyof typeof ACTS

export function isAct(text: string): text is Act {
  return Object.hasOwn(ACTS, text)
}

export const LONGEST_REASON = 200
/** How long an admin may act after confirming who they are. */
export const ACT_WITHIN_MS = 15 * 60_000
/** How long they may read: a working day, so that a browser left open overnight shows nobody our customers. */
export const READ_WITHIN_MS = 12 * 60 * 60_000

/** One act, as the console shows it. Times are ISO 8601. */
export type AuditLine = {
  id: string
  at: string
  /** An email address, or `script`. */
  actor: string
  act: Act
  subject: string
  userId: string | null
  reason: string
  detail: string | null
}

const CSV_COLUMNS = ['at', 'actor', 'act', 'subject', 'userId', 'reason', 'detail', 'id'] as const

export const AUDIT_CSV_HEAD = `${BYTE_ORDER_MARK}${CSV_COLUMNS.join(',')}\r\n`

export function auditCsv(lines: AuditLine[]): string {
  return lines.map((line) => csvLine(CSV_COLUMNS.map((column) => line[column] ?? ''))).join('')
}
