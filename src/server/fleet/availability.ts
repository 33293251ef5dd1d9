import { desc, isNull } from 'drizzle-orm'
import { type PlaceRow, places } from '../../../db/schema.ts'
import { gpusOf } from '../../domain/money/plan.ts'
import type { Availability } from '../../domain/wire.ts'
import { countUsage, usageQueries } from '../billing/bills/usage.ts'
import type { Context } from '../context.ts'

/** Checks every place that the user's plan allows, in the order in which we would reserve them. */
export async function findAvailability(ctx: Context, userId: string): Promise<Availability> {
  const [history, runs, placeRows] = await ctx.db.batch([
    ...usageQueries(ctx, userId),
    ctx.db.select().from(places).where(isNull(places.retiredAt)).orderBy(desc(places.gpus), places.position),
  ])
  const now = ctx.now()
  const { plan } = countUsage(history, runs, now)
  const allowed = placeRows.filter((place) => place.gpus <= gpusOf(plan))
  const candidates = allowed.map((place) => {
    const reason = whyNotOffered(place, now)
    return {
      instance_type: place.instanceType,
      availability_zone: place.availabilityZone,
      server_id: place.id,
      available: reason === null,
      reason,
    }
  })
  return { ServerAvailable: candidates.some((candidate) => candidate.available), candidates }
}

function whyNotOffered(place: PlaceRow, now: number): string | null {
  if (place.reservedBy !== null) return 'Reserved'
  return place.setAsideUntil > now ? 'Out of capacity' : null
}
