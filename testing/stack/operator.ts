import { alerts, outbox } from '../../db/schema.ts'
import type { World } from '../world/world.ts'

/** What the operator was alerted about, and the subjects of all mails. */
export async function alertsOf(world: World): Promise<{ matters: string[]; mails: string[] }> {
  const [told, mails] = [await world.db.select().from(alerts), await world.db.select().from(outbox)]
  return { matters: told.map(({ matter }) => matter).sort(), mails: mails.map(({ subject }) => subject) }
}
