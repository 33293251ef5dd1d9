import { playLineMonth, shareWithin } from '../testing/world/line-month.ts'
import { atLeast, type Row, told } from './table.ts'

const SEEDS = [1, 2, 3, 4, 5]

/** A month of people in line, five times: whether those who were told how long they wait waited no longer. */
export function benchLine(): Row[] {
  const months = SEEDS.map(playLineMonth)
  const all = months.flat()
  const within = (quantile: 'p50' | 'p90', trial: boolean) =>
    shareWithin(
      all.filter((one) => one.trial === trial),
      quantile,
    )
  return [
    told('people in line', `${all.length}`),
    told('told how long they wait', `${all.filter(({ estimate }) => estimate).length}`),
    told('gave up', `${all.filter(({ served }) => !served).length}`),
    ...[false, true].flatMap((trial) => {
      const kind = trial ? 'trials' : 'paid plans'
      return [
        atLeast(`${kind}: waited at most p50`, within('p50', trial).share, 0.47, ''),
        atLeast(`${kind}: waited at most p90`, within('p90', trial).share, 0.88, ''),
      ]
    }),
    ...months.map((month, i) =>
      atLeast(`seed ${SEEDS[i]}: waited at most p90`, shareWithin(month, 'p90').share, 0.87, ''),
    ),
  ]
}
