import { eq } from 'drizzle-orm'
import { places, runs } from '../../db/schema/fleet.ts'
import { auditLog } from '../../db/schema/operations.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { change, openSite } from '../stack/site.ts'

export const REASON = 'They asked us to.'
const MACHINE = { instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a' }

/** The console, with an admin who acts in it. */
export async function openAdminConsole() {
  const site = await openSite()
  const { db } = site
  const admin = await site.signInAs('admin')
  return {
    site,
    db,
    admin,
    /** Sends a form of the console as JSON, with a reason and its tick. */
    act: (path: string, body: object = {}, cookie = admin.cookie, at = site) =>
      change(at, 'POST', path, cookie, { reason: REASON, confirmed: true, ...body }),
    async open(path: string, cookie = admin.cookie, at = site) {
      const response = await at.request(path, { headers: { Cookie: cookie } })
      return { status: response.status, text: await response.text() }
    },
    /** The acts in the audit log, with who did them and why. */
    actsOn: async (subject: string) =>
      (await db.select().from(auditLog).where(eq(auditLog.subject, subject))).map(({ act, actor, reason }) => [
        act,
        actor,
        reason,
      ]),
    /** How the audit log has an act of this admin. */
    recorded: (name: string) => [name, admin.userId, REASON],
    async newRun(userId: string, row: Partial<typeof runs.$inferInsert> = {}): Promise<string> {
      const [id, placeId, now] = [newId('ses'), newId('srv'), Date.now()]
      await db.insert(places).values({ ...MACHINE, id: placeId, position: 1, reservedBy: id })
      const times = { requestedAt: now - 9_000, runningAt: now - 5_000, billedFrom: now - 4_000, confirmedAt: now }
      await db.insert(runs).values({ ...MACHINE, ...times, id, userId, placeId, instanceId: `i-${id}`, ...row })
      return id
    },
  }
}
