import { and, desc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { places } from '../../../../db/schema/fleet.ts'
import { type LineRow, line } from '../../../../db/schema/line.ts'
import { AppError, type ErrorCode } from '../../../domain/error.ts'
import { HOLD_MS, LAPSES_TO_END, LAPSES_TO_LEAVE } from '../../../domain/line.ts'
import { requireAllowance } from '../../billing/allowance.ts'
import { lineHeldMail, lineLapsedMail, lineRefusedMail } from '../../mail/line-letters.ts'
import { tellQueries, tellSoon } from '../../mail/notices.ts'
import { deliverMail } from '../../mail/outbox.ts'
import { type Context, siteOrigin, withLogFields } from '../../runtime/context.ts'
import { fourAtOnce } from '../../runtime/four-at-once.ts'
import { IS_FREE, isOfferedAt } from '../places.ts'
import { startRun } from '../start-run.ts'
import { clearLine } from './clear.ts'
import { countLine } from './count.ts'
import { isLeftFor, isWarmLeftFor } from './hold-back.ts'
import { leaveQueries } from './leave.ts'
import { tellLine } from './show.ts'
import { IS_HELD, IS_WAITING, mayStart, passOnQueries } from './turns.ts'

/** No place stays idle for longer while someone is waiting for it. */
export const LINE_EVERY_MS = 3_000
/** The others get theirs at the next look. */
const PLACES_AT_ONCE = 20
const OFFERS_AT_ONCE = 50

/**
 * One look at the line: removes those who may not start or have a machine, takes back expired holds, gives every free
 * place to the next in line, and starts or holds it for them. Most places already went to them in the write that freed
 * them. Safe to repeat and to interrupt anywhere.
 * @returns when to look again; null once nobody is waiting
 */
export async function keepLine(base: Context): Promise<{ at: number; wait: number | null }> {
  const ctx = withLogFields(base, { line: true })
  let left = true
  try {
    await clearLine(ctx)
    await givePlaces(ctx)
    await offerPlaces(ctx)
    await countLine(ctx)
    left = (await ctx.db.$count(line)) > 0
  } catch (error) {
    // The next look is soon: a failed one must not delay it.
    ctx.log('line_failed', {}, error)
  }
  return { at: ctx.now(), wait: left ? LINE_EVERY_MS : null }
}

/** Gives away places that nobody uses: held ones that are no longer anyone's, and free ones that someone waits for. */
async function givePlaces(ctx: Context): Promise<void> {
  const now = ctx.now()
  const isTheirs = sql`${line.givenAt} IS NOT NULL AND ${line.runId} IS NULL
    AND coalesce(${line.heldUntil}, ${line.givenAt} + ${HOLD_MS}) > ${now} AND ${isOfferedAt(now)}`
  const isWanted = sql`EXISTS (SELECT 1 FROM line WHERE line.gpus = servers.gpus AND ${IS_WAITING}
    AND ${isLeftFor(sql`line.user_id`, now)} AND ${isWarmLeftFor(sql`line.user_id`, now)})`
  const [held, free] = await ctx.db.batch([
    ctx.db
      .select({ id: places.id, row: line, email: users.email })
      .from(places)
      .leftJoin(line, eq(line.userId, places.reservedBy))
      .leftJoin(users, eq(users.id, places.reservedBy))
      .where(sql`${IS_HELD} AND (${isTheirs}) IS NOT TRUE`)
      .limit(PLACES_AT_ONCE),
    ctx.db
      .select({ id: places.id })
      .from(places)
      .where(and(IS_FREE, isOfferedAt(now), isWanted))
      .orderBy(desc(places.gpus), places.position)
      .limit(PLACES_AT_ONCE),
  ])
  if (!held.length && !free.length) return
  await writeBatch(ctx.db, [
    ...held.flatMap(({ id, row, email }) => [
      ...(row && email ? lapseMailQueries(ctx, row, email, now) : []),
      ...passOnQueries(ctx, sql`id = ${id} AND ${row ? sql`reserved_by = ${row.userId}` : IS_HELD}`),
      ...(row ? lapseQueries(ctx, row, now) : []),
    ]),
    ...free.flatMap(({ id }) => passOnQueries(ctx, sql`id = ${id} AND ${IS_FREE} AND ${isOfferedAt(now)}`)),
  ])
  const lapsed = held.flatMap(({ row }) => (row && hasLapsed(row, now) ? row.userId : []))
  if (!lapsed.length) return
  ctx.background(deliverMail(ctx))
  ctx.background(fourAtOnce(lapsed, (id) => Promise.all([tellLine(ctx, id), ctx.channel(id).tellAccount()])))
}

/** They let it expire, and weren't just unlucky with a place that we retired. */
const hasLapsed = ({ heldUntil }: LineRow, now: number) => heldUntil !== null && heldUntil <= now

/** They no longer have it. */
function lapseQueries(ctx: Context, row: LineRow, now: number): Query[] {
  const lapses = row.lapses + (hasLapsed(row, now) ? 1 : 0)
  const isIt = sql`user_id = ${row.userId} AND session_id IS NULL AND given_at = ${row.givenAt}
    AND NOT EXISTS (SELECT 1 FROM servers WHERE reserved_by = ${row.userId})`
  if (lapses >= LAPSES_TO_LEAVE) return [ctx.db.run(sql`DELETE FROM line WHERE ${isIt}`)]
  const toEnd = lapses > row.lapses && lapses >= LAPSES_TO_END
  return [
    ctx.db.run(sql`UPDATE line SET given_at = NULL, held_until = NULL, lapses = ${lapses},
      queued_at = CASE WHEN ${toEnd ? 1 : 0} THEN ${now} ELSE queued_at END WHERE ${isIt}`),
  ]
}

function lapseMailQueries(ctx: Context, row: LineRow, email: string, now: number): Query[] {
  const lapses = row.lapses + 1
  if (!hasLapsed(row, now) || lapses < LAPSES_TO_END) return []
  const mail = lineLapsedMail(siteOrigin(ctx), lapses >= LAPSES_TO_LEAVE ? 'out' : 'end')
  const isStill = sql`EXISTS (SELECT 1 FROM line WHERE user_id = ${row.userId} AND session_id IS NULL AND held_until = ${row.heldUntil})`
  return tellQueries(ctx, { id: row.userId, email }, mail, isStill, `line_lapsed:${row.userId}_${row.givenAt}`)
}

/** Starts the servers of those who got a place, or tells them that we are holding it. */
async function offerPlaces(ctx: Context): Promise<void> {
  const given = await ctx.db
    .select({ row: line, email: users.email, placeId: places.id })
    .from(line)
    .innerJoin(places, eq(places.reservedBy, line.userId))
    .innerJoin(users, eq(users.id, line.userId))
    .where(and(isNotNull(line.givenAt), isNull(line.heldUntil), isNull(line.runId)))
    .limit(OFFERS_AT_ONCE)
  // If someone's object is busy, each call to it may wait for 15 s.
  await fourAtOnce(given, (offer) =>
    offerPlace(ctx, offer).catch((error) => ctx.log('line_offer_failed', { userId: offer.row.userId }, error)),
  )
  if (given.length) ctx.background(deliverMail(ctx))
}

type Offer = { row: LineRow; email: string; placeId: string }

async function offerPlace(ctx: Context, offer: Offer): Promise<void> {
  const { row, placeId } = offer
  try {
    const { gpus } = await requireAllowance(ctx, row.userId)
    if (gpus < row.gpus) throw new AppError('invalid', SMALLER_PLAN)
    const starter = { user: { id: row.userId }, tokenName: row.wishes.tokenName ?? null }
    // There may be a new password or a revoked token since the look.
    const isTurn = sql`EXISTS (SELECT 1 FROM line WHERE user_id = ${row.userId} AND given_at = ${row.givenAt}
      AND start AND ${mayStart(ctx.now())})`
    if (row.start) await startRun(ctx, starter, placeId, null, row.wishes, isTurn)
    else await hold(ctx, offer)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // The place or the account changed just now: the next look sees how.
    if (PASSING.has(error.code)) return
    await refuse(ctx, offer, error)
  }
  await tellLine(ctx, row.userId)
}

const SMALLER_PLAN = 'Your plan no longer includes a machine of this size.'
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'unavailable',
  'no_capacity',
  'conflict',
  'has_server',
  'stopping',
  'unauthenticated',
  'not_found',
])

async function hold(ctx: Context, { row, email }: Offer): Promise<void> {
  const until = ctx.now() + HOLD_MS
  const isHeld = sql`EXISTS (SELECT 1 FROM line WHERE user_id = ${row.userId} AND held_until = ${until})`
  const cause = `line_held:${row.userId}_${row.givenAt}`
  const results = await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE line SET held_until = ${until} WHERE user_id = ${row.userId} AND given_at = ${row.givenAt}
      AND held_until IS NULL AND session_id IS NULL AND ${mayStart(ctx.now())}`),
    ...tellQueries(ctx, { id: row.userId, email }, lineHeldMail(siteOrigin(ctx), until), isHeld, cause),
  ])
  tellSoon(ctx, row.userId, results.at(-1))
}

async function refuse(ctx: Context, { row, email }: Offer, { message, page }: AppError): Promise<void> {
  const isIt = sql`given_at = ${row.givenAt} AND session_id IS NULL`
  const mail = lineRefusedMail(`${siteOrigin(ctx)}${page ?? '/dashboard'}`, message)
  const isStill = sql`EXISTS (SELECT 1 FROM line WHERE user_id = ${row.userId} AND ${isIt})`
  const cause = `line_refused:${row.userId}_${row.givenAt}`
  const [, told] = await writeBatch(ctx.db, [
    ...tellQueries(ctx, { id: row.userId, email }, mail, isStill, cause),
    ...leaveQueries(ctx, row.userId, isIt),
  ])
  tellSoon(ctx, row.userId, told)
}
