import { expect, test } from 'vitest'
import { nextInLine, PAID_TURNS, paidTurnsAfter, positionsOf, type Waiting } from '../../src/domain/line.ts'
import { seededRandom } from '../../testing/random.ts'

const SEEDS = 300

function randomLine(seed: number): { waiting: Waiting[]; paidTurns: number } {
  const luck = seededRandom(seed)
  const waiting = Array.from({ length: luck.between(0, 14) }, (_, i) => ({
    id: `user_${i}`,
    trial: luck.chance(0.4),
    queuedAt: luck.between(0, 8),
  }))
  return { waiting, paidTurns: luck.between(0, PAID_TURNS) }
}

/** Serves everyone, one after another. */
function serve({ waiting, paidTurns }: { waiting: Waiting[]; paidTurns: number }): Waiting[] {
  const left = [...waiting]
  const served: Waiting[] = []
  let turns = paidTurns
  for (let next = nextInLine(left, turns); next; next = nextInLine(left, turns)) {
    left.splice(left.indexOf(next), 1)
    turns = paidTurnsAfter(next, left, turns)
    served.push(next)
  }
  return served
}

test('an empty line has no next', () => {
  expect(nextInLine([], 0)).toBeNull()
})

test('serves everyone once, and within a class in the order of joining', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const line = randomLine(seed)
    const served = serve(line)
    expect(served.map(({ id }) => id).sort(), `seed ${seed}`).toEqual(line.waiting.map(({ id }) => id).sort())
    for (const trial of [true, false]) {
      const times = served.filter((one) => one.trial === trial).map(({ queuedAt }) => queuedAt)
      expect(times, `seed ${seed}`).toEqual(times.toSorted((a, b) => a - b))
    }
  }
})

test('while both wait, three paid plans come before each trial', () => {
  const line = (paid: number, trials: number): Waiting[] => [
    ...Array.from({ length: trials }, (_, i) => ({ id: `t${i}`, trial: true, queuedAt: i })),
    ...Array.from({ length: paid }, (_, i) => ({ id: `p${i}`, trial: false, queuedAt: 100 + i })),
  ]
  const turns = (waiting: Waiting[], paidTurns = 0) =>
    serve({ waiting, paidTurns })
      .map(({ id }) => id)
      .join(' ')
  expect(turns(line(7, 3))).toBe('p0 p1 p2 t0 p3 p4 p5 t1 p6 t2')
  expect(turns(line(2, 3))).toBe('p0 p1 t0 t1 t2')
  expect(turns(line(2, 2), 3)).toBe('t0 p0 p1 t1')
  expect(turns(line(2, 2), 2)).toBe('p0 t0 p1 t1')
})

test('turns count only while a trial waits', () => {
  const paid = { id: 'p', trial: false, queuedAt: 1 }
  const trial = { id: 't', trial: true, queuedAt: 2 }
  expect(paidTurnsAfter(paid, [], 1)).toBe(1)
  expect(paidTurnsAfter(paid, [trial], 1)).toBe(2)
  expect(paidTurnsAfter(paid, [trial], PAID_TURNS)).toBe(PAID_TURNS)
  expect(paidTurnsAfter(trial, [paid], 3)).toBe(0)
})

test('a position is how many places must free until it is their turn', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const line = randomLine(seed)
    const positions = positionsOf(line.waiting, line.paidTurns)
    expect(
      serve(line).map(({ id }) => positions.get(id)),
      `seed ${seed}`,
    ).toEqual(line.waiting.map((_, i) => i + 1))
  }
})
