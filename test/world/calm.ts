/** Since when nothing has failed, and who has had the chance to work since. */
export class Calm {
  /** For money and mail; and for the fleet, since when also nothing came late. */
  since = { money: 0, fleet: 0 }
  /** Undisturbed full rounds of all triggers since the start. */
  readonly rounds: number[] = []
  #now: () => number

  constructor(now: () => number) {
    this.#now = now
    this.disturb()
  }

  /** Something failed or was late, so we promise nothing for a while. */
  disturb(what: 'fleet' | 'all' = 'all'): void {
    this.since.fleet = this.#now()
    if (what === 'all') this.since.money = this.#now()
  }

  /** That moment, or the last disturbance if it is later. */
  from(what: 'money' | 'fleet', since: number): number {
    return Math.max(this.since[what], since)
  }

  /** How long it has been calm since that moment, in ms. */
  forMs(what: 'money' | 'fleet', since: number): number {
    return this.#now() - this.from(what, since)
  }

  /** How many undisturbed rounds of triggers, at least this many ms apart, began since that moment and the last disturbance. */
  roundsSince(what: 'money' | 'fleet', since: number, apartMs: number): number {
    const from = this.from(what, since)
    let last = from - apartMs
    let rounds = 0
    for (const at of this.rounds) {
      if (at <= from || at < last + apartMs) continue
      last = at
      rounds += 1
    }
    return rounds
  }
}
