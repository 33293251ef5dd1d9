import { vi } from 'vitest'
import { alerts, outbox } from '../../db/schema.ts'
import type { World } from './context.ts'

/** What the operator was mailed about, and how often. */
export async function alertsOf(world: World): Promise<{ matters: string[]; mails: string[] }> {
  const [told, mails] = [await world.db.select().from(alerts), await world.db.select().from(outbox)]
  return { matters: told.map(({ matter }) => matter).sort(), mails: mails.map(({ subject }) => subject) }
}

type Line = { event: string; error?: { code?: string; requestId?: string }[] } & Record<string, unknown>

/** Keeps the log from the terminal. @returns the lines so far */
export function readLog(): () => Line[] {
  const written = vi.spyOn(console, 'error').mockImplementation(() => {})
  return () => written.mock.calls.map(([line]) => JSON.parse(String(line)) as Line)
}
