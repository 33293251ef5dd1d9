import type { UserRow } from '../../db/schema/accounts.ts'
import type { BillRow, PlanRow } from '../../db/schema/billing.ts'
import type { WebhookRow } from '../../db/schema/events.ts'
import type { JobRow, PlaceRow, RunRow } from '../../db/schema/fleet.ts'
import type { Job } from '../../src/domain/wire/fleet.ts'
import type { Rows } from './database.ts'

/** What the world saw earlier, so that rules can say that something never changes or doesn't last. */
export class Memory {
  readonly runs = new Map<string, RunRow>()
  readonly jobs = new Map<string, JobRow>()
  readonly bills = new Map<string, BillRow>()
  readonly users = new Map<string, UserRow>()
  readonly plans = new Map<string, PlanRow>()
  readonly places = new Map<string, PlaceRow>()
  readonly webhooks = new Map<string, WebhookRow>()
  /** The causes of mails that are written only once. */
  readonly causes = new Set<string>()
  /** Runs that ended for a reason of their own, such as a lost instance. */
  readonly blamed = new Set<string>()
  /** People whose plan was unpaid, or of whose plan we learned after the end of a cycle that it changes. */
  readonly lateLessons = new Set<string>()
  #since = new Map<string, { at: number; matter: string }>()
  #told = new Map<string, string>()
  #published = 0
  #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** Since when that is so about the same matter, in ms since 1970; null if it is not. */
  since(what: string, isSo: boolean, matter = ''): number | null {
    if (!isSo) {
      this.#since.delete(what)
      return null
    }
    const known = this.#since.get(what)
    const since = known?.matter === matter ? known : { at: this.#now(), matter }
    this.#since.set(what, since)
    return since.at
  }

  /** What was published since the last call, with the status told before. */
  newlyPublished(published: { job: Job }[]): { job: Job; before: string | undefined }[] {
    const news = published.slice(this.#published)
    this.#published = published.length
    return news.map(({ job }) => {
      const before = this.#told.get(job.id)
      this.#told.set(job.id, job.status)
      return { job, before }
    })
  }

  /** Call it before the rules are checked. */
  count(rows: Rows): void {
    for (const job of rows.jobs) if (job.errorCode === 'instance_lost') this.blamed.add(job.runId)
    for (const { what, id } of rows.witnessed)
      if (what === 'late lesson' || what.startsWith('unpaid since ')) this.lateLessons.add(id)
  }

  /** Call it after the rules are checked. */
  remember(rows: Rows): void {
    for (const run of rows.runs) this.runs.set(run.id, run)
    for (const job of rows.jobs) this.jobs.set(job.id, job)
    for (const bill of rows.bills) this.bills.set(bill.id, bill)
    for (const user of rows.users) this.users.set(user.id, user)
    for (const plan of rows.plans) this.plans.set(plan.id, plan)
    for (const { cause } of rows.outbox) if (cause !== null) this.causes.add(cause)
    for (const webhook of rows.webhooks) this.webhooks.set(webhook.id, webhook)
    for (const place of rows.places) this.places.set(place.id, place)
  }
}
