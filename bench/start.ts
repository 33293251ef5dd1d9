import { newSignedInPerson, start, stop } from '../testing/people/signed-in-person.ts'
import { median, timed } from './median.ts'
import type { BenchSite } from './site.ts'
import { atMost, type Row, told } from './table.ts'

const STARTS = 20

/** How long "Start Server" takes to answer on the built Worker: one start per new user, one after another. */
export async function benchStart(site: BenchSite): Promise<Row[]> {
  const times: number[] = []
  for (let i = 0; i <= STARTS; i++) {
    const person = await newSignedInPerson(site)
    const ms = await timed(() => start(person))
    // The first one is a warm-up.
    if (i) times.push(ms)
    await stop(person)
  }
  return [
    atMost(`Start answers, median of ${STARTS}`, median(times), 150, 'ms'),
    told('Start answers, slowest', `${Math.round(Math.max(...times))} ms`),
  ]
}
