import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { type PlaceRow, places } from '../../../../db/schema/fleet.ts'
import { type WarmMachineRow, type WarmSettingRow, warmMachines, warmSettings } from '../../../../db/schema/warm.ts'
import { DAY_MS, MINUTE_MS } from '../../../domain/instant.ts'
import { wantedAt } from '../../../domain/warm-hours.ts'
import { newId } from '../../crypto/id.ts'
import type { CloudInstance } from '../../ports/cloud.ts'
import { type Context, withLogFields } from '../../runtime/context.ts'
import { fourAtOnce } from '../../runtime/four-at-once.ts'
import { templateVersionOf } from '../ec2.ts'
import { alertLaunchRefused } from '../jobs/refusals.ts'
import { ENDED, LOOKS, UNSEEN_MS } from '../jobs/sight.ts'
import { isLeftFor } from '../line/hold-back.ts'
import { passOnQueries } from '../line/turns.ts'
import { IS_FREE, isOfferedAt, setAsideQuery } from '../places.ts'
import { alertWarmFailed, readFailures } from './failures.ts'

/** EC2 allows about two launches a second. */
const LAUNCHES_AT_ONCE = 10
/** A machine boots and pulls its images within this time, or never. */
const READY_WITHIN_MS = 45 * MINUTE_MS
/** A machine that waits asks every few seconds. */
const SILENT_MS = 5 * MINUTE_MS

type Kept = { machine: WarmMachineRow; place: PlaceRow }

/**
 * Launches, replaces, and ends the machines that wait for starts, as the operator has set. Each is written down before
 * EC2 is called, so the next pass continues what this one began. Run by cron each minute, which may be late or double.
 */
export async function keepWarm(base: Context): Promise<void> {
  const ctx = withLogFields(base, { warm: true })
  const [settings, kept] = await readKept(ctx)
  if (!settings.length && !kept.length) return
  await ctx.db.delete(warmMachines).where(lt(warmMachines.endedAt, ctx.now() - DAY_MS))
  await fourAtOnce(kept, (one) => careFor(ctx, one))
  const [, left] = await readKept(ctx)
  const settingOf = new Map(settings.map((setting) => [kindOf(setting), setting]))
  const keptOf = Map.groupBy(left, ({ place }) => kindOf(place))
  for (const kind of new Set([...settingOf.keys(), ...keptOf.keys()]))
    await keepKind(ctx, settingOf.get(kind) ?? null, keptOf.get(kind) ?? [])
}

const kindOf = ({ instanceType, availabilityZone }: Pick<PlaceRow, 'instanceType' | 'availabilityZone'>) =>
  `${instanceType} ${availabilityZone}`

async function readKept(ctx: Context) {
  return ctx.db.batch([
    ctx.db.select().from(warmSettings),
    ctx.db
      .select({ machine: warmMachines, place: places })
      .from(warmMachines)
      .innerJoin(places, eq(places.id, warmMachines.placeId))
      .where(isNull(warmMachines.endedAt)),
  ])
}

/** Ends machines that are too many or of no use, launches missing ones, and replaces one that is old. */
async function keepKind(ctx: Context, setting: WarmSettingRow | null, kept: Kept[]): Promise<void> {
  const now = ctx.now()
  const wanted = setting ? wantedAt(setting, now) : 0
  const staying = kept.filter(({ machine }) => machine.endingAt === null)
  const useful = staying.filter((one) => isUseful(one, now))
  // Keep those that are ready, and the newest of them.
  useful.sort(
    (a, b) =>
      Number(b.machine.readyAt !== null) - Number(a.machine.readyAt !== null) ||
      b.machine.createdAt - a.machine.createdAt,
  )
  const useless = staying.filter((one) => !useful.includes(one))
  await fourAtOnce(useless, (one) => endUseless(ctx, one))
  await fourAtOnce(useful.slice(wanted), (one) => end(ctx, one))
  if (setting && useful.length < wanted && (await begin(ctx, setting, useful, wanted - useful.length))) return
  if (kept.length === useful.length && useful.every(({ machine }) => machine.readyAt !== null))
    await replaceOldest(ctx, useful.slice(0, wanted))
}

function works({ createdAt, readyAt, askedAt }: WarmMachineRow, now: number): boolean {
  return readyAt === null ? now < createdAt + READY_WITHIN_MS : now < (askedAt ?? 0) + SILENT_MS
}

/** Whether starts may take it, and as far as we know, it works. */
function isUseful({ machine, place }: Kept, now: number): boolean {
  return (
    works(machine, now) &&
    place.retiredAt === null &&
    place.setAsideUntil <= now &&
    !place.reservedBy?.startsWith('ses_')
  )
}

/** One at a time: while its successor boots, the others wait. */
async function replaceOldest(ctx: Context, kept: Kept[]): Promise<void> {
  const [oldest] = kept.toSorted((a, b) => a.machine.createdAt - b.machine.createdAt)
  if (!oldest) return
  const { machine, place } = oldest
  const latest = await ctx.cloud.templateVersion(place.availabilityZone, place.launchTemplate)
  const knowsBoth = machine.templateVersion !== null && latest !== ''
  const isOld = ctx.now() >= machine.createdAt + DAY_MS || (knowsBoth && machine.templateVersion !== latest)
  if (isOld) await end(ctx, oldest)
}

/**
 * In the last free places, because starts take the first. After failures, one at a time.
 * @returns whether there was a free one
 */
async function begin(ctx: Context, setting: WarmSettingRow, useful: Kept[], missing: number): Promise<boolean> {
  const { instanceType, availabilityZone } = setting
  const now = ctx.now()
  const failures = await readFailures(ctx, setting)
  const tries = useful.some(({ machine }) => machine.readyAt === null)
  if (failures.count && (tries || now < failures.nextAt)) return false
  const count = failures.count ? 1 : missing
  const free = await ctx.db
    .select()
    .from(places)
    .where(
      and(
        eq(places.instanceType, instanceType),
        eq(places.availabilityZone, availabilityZone),
        sql`${IS_FREE} AND ${isOfferedAt(now)} AND ${HAS_NONE}`,
      ),
    )
    .orderBy(sql`position DESC`)
    .limit(Math.min(count, LAUNCHES_AT_ONCE))
  for (const place of free) {
    const machine = await record(ctx, place)
    // If EC2 refused one, it will refuse the next.
    if (machine && (await careFor(ctx, { machine, place })) === 'refused') break
  }
  return free.length > 0
}

const HAS_NONE = sql`NOT EXISTS (SELECT 1 FROM warm_machines WHERE warm_machines.server_id = servers.id AND ended_at IS NULL)`

/** Before calling EC2. Null if a start, or another pass, was faster. */
async function record(ctx: Context, place: PlaceRow): Promise<WarmMachineRow | null> {
  const token = newId('warm')
  const now = ctx.now()
  await ctx.db.run(sql`INSERT INTO warm_machines (token, server_id, created_at) SELECT ${token}, id, ${now} FROM servers
    WHERE id = ${place.id} AND ${IS_FREE} AND ${isOfferedAt(now)} AND ${HAS_NONE}`)
  const [machine] = await ctx.db.select().from(warmMachines).where(eq(warmMachines.token, token))
  return machine ?? null
}

/** The next thing to do for one machine. A failure is tried again at the next pass. */
async function careFor(ctx: Context, { machine, place }: Kept): Promise<'refused' | undefined> {
  try {
    if (machine.instanceId === null && machine.endingAt === null) return await launch(ctx, machine, place)
    await look(ctx, machine, place)
  } catch (error) {
    ctx.log('warm_machine_failed', { token: machine.token, instanceId: machine.instanceId }, error)
  }
}

async function launch(ctx: Context, machine: WarmMachineRow, place: PlaceRow): Promise<'refused' | undefined> {
  const { instanceType, availabilityZone, launchTemplate } = place
  const answer = await ctx.cloud.launch({
    token: machine.token,
    instanceType,
    availabilityZone,
    launchTemplate,
    tags: { Name: 'proving-ground warm', warm: 'yes' },
  })
  if (!('refused' in answer)) {
    await recordInstance(ctx, machine, answer)
    return
  }
  await alertLaunchRefused({ ctx }, place, answer)
  await close(ctx, machine, answer.refused === 'place')
  return 'refused'
}

async function recordInstance(ctx: Context, { token }: WarmMachineRow, instance: CloudInstance): Promise<void> {
  await ctx.db
    .update(warmMachines)
    .set({ instanceId: instance.id, launchedAt: instance.launchTime, templateVersion: templateVersionOf(instance) })
    .where(and(eq(warmMachines.token, token), isNull(warmMachines.endedAt)))
}

async function look(ctx: Context, machine: WarmMachineRow, place: PlaceRow): Promise<void> {
  const { token, instanceId, endingAt } = machine
  const found = instanceId === null ? await ctx.cloud.findByToken(token) : await ctx.cloud.findInstance(instanceId)
  if (!found) return noteUnseen(ctx, machine, place)
  // After a restore, it may belong to someone whom this database doesn't know.
  if (found.tags.session) {
    await writeBatch(ctx.db, [
      ctx.db.delete(warmMachines).where(eq(warmMachines.token, token)),
      ...passOnQueries(ctx, sql`reserved_by = ${token}`),
    ])
    return
  }
  if (instanceId === null || machine.templateVersion === null) await recordInstance(ctx, machine, found)
  if (machine.unseenLooks > 0)
    await ctx.db.update(warmMachines).set({ unseenSince: null, unseenLooks: 0 }).where(eq(warmMachines.token, token))
  if (found.state === 'terminated') {
    await noteEnd(ctx, machine, place)
    return close(ctx, machine)
  }
  if (endingAt === null ? ENDED.has(found.state) : found.state !== 'shutting-down') {
    // It may have ended on its own. Then no start may get it, and its place is free once it's gone.
    await noteEnd(ctx, machine, place)
    if (endingAt === null && !(await reserve(ctx, machine, true))) return
    await ctx.cloud.terminate(found.id)
  }
}

/** "Not found" proves nothing until it has repeated for long enough. No customer's server depends on it. */
async function noteUnseen(ctx: Context, machine: WarmMachineRow, place: PlaceRow): Promise<void> {
  const now = ctx.now()
  const unseenSince = machine.unseenSince ?? now
  const unseenLooks = machine.unseenLooks + 1
  if (unseenLooks >= LOOKS && unseenSince <= now - UNSEEN_MS) {
    await noteEnd(ctx, machine, place)
    return close(ctx, machine)
  }
  await ctx.db.update(warmMachines).set({ unseenSince, unseenLooks }).where(eq(warmMachines.token, machine.token))
}

async function endUseless(ctx: Context, one: Kept): Promise<void> {
  const { machine, place } = one
  const what =
    machine.readyAt === null
      ? "didn't say within 45 minutes that it has its images"
      : "was ready, and didn't ask for its run for 5 minutes"
  if (!works(machine, ctx.now())) await noteFailure(ctx, machine, place, what)
  await end(ctx, one, true)
}

/** It ended on its own, or EC2 ended it. */
async function noteEnd(ctx: Context, machine: WarmMachineRow, place: PlaceRow): Promise<void> {
  if (machine.endingAt === null && machine.instanceId !== null)
    await noteFailure(ctx, machine, place, machine.readyAt === null ? 'ended before it was ready' : 'ended on its own')
}

async function noteFailure(ctx: Context, { token, instanceId }: WarmMachineRow, place: PlaceRow, what: string) {
  await ctx.db
    .update(warmMachines)
    .set({ failedAt: ctx.now() })
    .where(and(eq(warmMachines.token, token), isNull(warmMachines.failedAt)))
  await alertWarmFailed(ctx, place.availabilityZone, instanceId, what)
}

async function end(ctx: Context, { machine, place }: Kept, isUseless = false): Promise<void> {
  if (await reserve(ctx, machine, isUseless))
    await careFor(ctx, { machine: { ...machine, endingAt: ctx.now() }, place })
}

/**
 * Reserves its place until it's gone, unless a start was faster: nobody else may get the place before that. A run that
 * has the place without the machine keeps it, as after an older version ran for a while. A place held back for a group
 * stays free, unless the machine there would only delay them.
 */
async function reserve(ctx: Context, { token, placeId }: WarmMachineRow, isUseless: boolean): Promise<boolean> {
  const now = ctx.now()
  const [, written] = await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE servers SET reserved_by = ${token}, reserved_at = ${now} WHERE id = ${placeId} AND ${IS_FREE}
      AND (${isUseless ? 1 : 0} OR NOT ${isOfferedAt(now)} OR ${isLeftFor(null, now)})
      AND EXISTS (SELECT 1 FROM warm_machines WHERE token = ${token} AND ended_at IS NULL)`),
    ctx.db.run(sql`UPDATE warm_machines SET ending_at = coalesce(ending_at, ${now}) WHERE token = ${token}
      AND EXISTS (SELECT 1 FROM servers WHERE reserved_by = ${token}
        OR id = ${placeId} AND reserved_by >= 'ses_' AND reserved_by < 'ses~')`),
  ])
  return written?.rowsAffected === 1
}

/** It's gone, or never existed. Its place goes to the next in line. */
async function close(ctx: Context, { token, placeId }: WarmMachineRow, refused = false): Promise<void> {
  const now = ctx.now()
  const isClosed = sql`EXISTS (SELECT 1 FROM warm_machines WHERE token = ${token} AND ended_at IS NOT NULL)`
  await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE warm_machines SET ended_at = ${now} WHERE token = ${token} AND ended_at IS NULL`),
    ...(refused ? [setAsideQuery(ctx, sql`id = ${placeId} AND ${isClosed}`)] : []),
    ...passOnQueries(ctx, sql`reserved_by = ${token} AND ${isClosed}`),
  ])
}
