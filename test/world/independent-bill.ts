/** A second opinion on the bill, from what others saw. Shares no code with the product. Times are ms since 1970. */
export type SeenRun = { start: number; end: number }
/** `hoursAt` are those of the period that begins then. */
export type SeenPlan = { hoursAt: (start: number) => number; from: number; until: number; trial: boolean }
export type SeenBill = { start: number; seconds: number; cents: number }

const CALENDAR = { hoursAt: () => 0, trial: false }

/** Cuts a customer's time into cycles, counts whole seconds of one set at a time, and prices them in 1e-7 dollars. */
export function independentBills(
  born: number,
  until: number,
  plans: SeenPlan[],
  runs: SeenRun[],
  closedAt: number | null = null,
): SeenBill[] {
  const bills: SeenBill[] = []
  for (let start = born; start < until; ) {
    const plan = plans.find((p) => p.from <= start && start < p.until)
    // One that ended in the second of its start never was.
    const nextPlan = Math.min(...plans.filter((p) => p.from > start && p.until > p.from).map((p) => p.from), Infinity)
    const natural = plan ? (plan.trial ? Infinity : nextMonthly(plan.from, start)) : nextFirst(start)
    const end = Math.min(natural, plan?.until ?? Infinity, nextPlan, closedAt ?? Infinity)
    if (end > until) break
    const seconds = runs.reduce((sum, run) => sum + secondsIn(run, start, end), 0)
    const { hoursAt, trial } = plan ?? CALENDAR
    if (seconds > 0 || (plan && !plan.trial))
      bills.push({ start, seconds, cents: trial ? 0 : price(seconds, hoursAt(start)) })
    start = end
  }
  return bills
}

/** Seconds that start in the cycle and lie entirely within the run. */
function secondsIn(run: SeenRun, start: number, end: number): number {
  const first = Math.max(-Math.floor(-run.start / 1000), -Math.floor(-start / 1000))
  const afterLast = Math.min(Math.floor(run.end / 1000), -Math.floor(-end / 1000))
  return afterLast > first ? afterLast - first : 0
}

function price(seconds: number, hours: number): number {
  const charged = BigInt(seconds) - BigInt(Math.round(hours * 3600))
  if (charged <= 0n) return 0
  const units = charged * 4861n
  const cents = units / 100_000n
  return Number(units % 100_000n >= 50_000n ? cents + 1n : cents)
}

/** Walks month by month from the start of the plan. */
function nextMonthly(from: number, after: number): number {
  const [date = '', time] = new Date(from).toISOString().split('T')
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  for (let n = 1; ; n++) {
    const y = year + Math.floor((month - 1 + n) / 12)
    const m = ((month - 1 + n) % 12) + 1
    const days = new Date(Date.UTC(y, m, 0)).getUTCDate()
    const pad = (value: number) => String(value).padStart(2, '0')
    const at = Date.parse(`${y}-${pad(m)}-${pad(Math.min(day, days))}T${time}`)
    if (at > after) return at
  }
}

function nextFirst(after: number): number {
  const [year = 0, month = 0] = new Date(after).toISOString().split('-').map(Number)
  return Date.parse(
    month === 12 ? `${year + 1}-01-01T00:00:00Z` : `${year}-${String(month + 1).padStart(2, '0')}-01T00:00:00Z`,
  )
}
