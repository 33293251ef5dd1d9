import { MINUTE_MS } from './instant.ts'

/** The rules of the line: who gets the next place of a size. `src/server/fleet/line/turns.ts` has the same rule in SQL. */

/** While both wait, this many paid plans come before each trial. */
export const PAID_TURNS = 3
/** How long we hold a place for someone who wants to press Start themselves. */
export const HOLD_MS = 5 * MINUTE_MS
/** After this many expired holds, they go to the end of the line. */
export const LAPSES_TO_END = 2
/** After this many, they leave the line. Otherwise, someone who is away would keep a place from everyone else, 5 minutes at a time. */
export const LAPSES_TO_LEAVE = 3

export type Waiting = { id: string; trial: boolean; queuedAt: number }

/** Within a class, those who came first are next. */
function byTurn(a: Waiting, b: Waiting): number {
  return a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1)
}

/**
 * Who gets the next place of this size.
 * @param paidTurns how many paid plans got a place since the last trial, while a trial waited
 */
export function nextInLine<One extends Waiting>(waiting: One[], paidTurns: number): One | null {
  const [paid, trial] = [false, true].map((isTrial) => waiting.filter((one) => one.trial === isTrial).toSorted(byTurn))
  const [first, second] = paidTurns >= PAID_TURNS ? [trial, paid] : [paid, trial]
  return first?.[0] ?? second?.[0] ?? null
}

/** The count of paid turns after `given` got a place. */
export function paidTurnsAfter(given: Waiting, waiting: Waiting[], paidTurns: number): number {
  if (given.trial) return 0
  const contested = waiting.some((one) => one.trial)
  return Math.min(PAID_TURNS, paidTurns + (contested ? 1 : 0))
}

/**
 * How many people get a place before this one, if nobody leaves.
 * @param ahead how many of their own class came before them
 * @param others how many of the other class wait
 */
function countAhead(trial: boolean, ahead: number, others: number, paidTurns: number): number {
  const before = trial ? PAID_TURNS - paidTurns + PAID_TURNS * ahead : Math.floor((paidTurns + ahead) / PAID_TURNS)
  return ahead + Math.min(others, before)
}

/** Everyone's position, from 1, by id: all of one size. */
export function positionsOf(waiting: Waiting[], paidTurns: number): Map<string, number> {
  const classes = [false, true].map((isTrial) => waiting.filter((one) => one.trial === isTrial).toSorted(byTurn))
  return new Map(
    classes.flatMap((own, i) =>
      own.map(({ id, trial }, ahead) => {
        const others = classes[1 - i]?.length ?? 0
        return [id, 1 + countAhead(trial, ahead, others, paidTurns)] as const
      }),
    ),
  )
}
