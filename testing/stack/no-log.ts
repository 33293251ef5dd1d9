import type { RunLogCalls } from '../../src/server/ports/objects.ts'

/** The log of a run whose machine never says anything. */
export const noLog: RunLogCalls = {
  append: async ({ first }) => ({ next: first, every_seconds: 30, news: null }),
  heardAt: async () => null,
  provenUntil: async () => null,
  acted: async () => {},
  read: async (after, isOver) => ({ lines: [], next: after, complete: isOver }),
  tail: async () => [],
  metrics: async () => ({ everySeconds: 10, samples: [] }),
  end: async () => ({ heardAt: null, exitedAt: null }),
  clear: async () => {},
}
