import type { Env } from './env.ts'

/** The wall clock in ms since 1970; moved where the local stack binds a clock of its own. */
export async function readClock(env: Env): Promise<() => number> {
  if (!env.CLOCK) return Date.now
  const offset = Number(await (await env.CLOCK.fetch('http://clock/offset')).text())
  return () => Date.now() + offset
}
