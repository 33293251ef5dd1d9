import type { LogStore } from '../../src/server/channel/log-store.ts'
import type { RunLogCalls } from '../../src/server/ports/objects.ts'
import type { Wire } from './wire.ts'

/** The calls to a run's log, as its object answers them. */
export function runLogOn(store: LogStore, call: Wire): RunLogCalls {
  return {
    append: (batch, now) =>
      call('log: append', async () =>
        store.refuses(batch) ? 'over' : { ...store.append(batch, now), every_seconds: 1 as const },
      ),
    heardAt: async (now) => store.heardFor(now),
    provenUntil: async (now) => store.provenUntil(now),
    acted: (news) => call('log: acted', async () => store.acted(news)),
    read: async (after, isOver) => store.partAfter(after, isOver),
    // Our stubs ask a second time, so an answer that is lost once is none that is missing.
    tail: async (count) => store.tail(count),
    metrics: async (since, until) => store.samples.read(since, until),
    end: (now) => call('log: end', async () => store.end(now)),
    clear: async () => store.clear(),
  }
}
