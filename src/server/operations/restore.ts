import { inArray, isNull, sql } from 'drizzle-orm'
import { places, runs } from '../../../db/schema/fleet.ts'
import { areMany } from '../fleet/jobs/sight.ts'
import type { CloudInstance } from '../ports/cloud.ts'
import type { Context } from '../runtime/context.ts'

const AT_ONCE = 500

export type Repair = {
  /**
   * `adopt`: someone's server runs, and the database doesn't know it. `bill`: that server has ended. `end_run`: the
   * database thinks that it still runs. `end_instance`: its owner is unknown. `leave`: so is its stage.
   */
  what: 'adopt' | 'bill' | 'end_run' | 'end_instance' | 'leave'
  instanceId: string | null
  runId: string | null
  userId: string | null
  /** What EC2 says about it; null if it lists no such instance. */
  instance: CloudInstance | null
}

export type Plan = {
  repairs: Repair[]
  /** Why a setting is probably wrong, not the database. */
  doubts: string[]
  /** The runs in doubt. The operator must name each one: ending it also ends its machine, for good. */
  doubted: string[]
}

export type Hand = Pick<Context, 'db' | 'now' | 'cloud'>

/**
 * What EC2 knows and a restored database doesn't: runs that began or ended after its backup. Changes nothing.
 * @param since the time of the backup: an older instance that nobody here owns belongs to another stage
 * @param region where `cloud` looks
 */
export async function findRepairs({ db, cloud }: Hand, since: number, region: string): Promise<Plan> {
  const all = await cloud.listInstances()
  const seen = onePerRun(all)
  const { id, userId, instanceId, placeId } = runs
  const live = await db.select({ id, userId, instanceId, placeId }).from(runs).where(isNull(runs.endedAt))
  const warm = await warmTokens(db)
  const known = await idsAmong(db, 'server_sessions', new Set(seen.map(({ tags }) => tags.session ?? '')))
  const people = await idsAmong(db, 'users', new Set(seen.map(({ tags }) => tags.user ?? '')))

  const unknown = [
    ...seen.filter(({ tags }) => !known.has(tags.session ?? '')),
    // It's waiting for a run that no one here will give it.
    ...all.filter(({ tags, token }) => isUntold(tags) && !warm.has(token ?? '')),
  ]
  const strange = unknown.flatMap((instance): Repair[] => {
    const about = describe(instance)
    if (people.has(instance.tags.user ?? '')) return [{ ...about, what: isAlive(instance) ? 'adopt' : 'bill' }]
    if (!isAlive(instance)) return []
    return [{ ...about, what: (begunAt(instance) ?? 0) >= since ? 'end_instance' : 'leave' }]
  })
  const byRun = new Map(seen.map((instance) => [instance.tags.session, instance]))
  const untold = new Map(all.filter(({ tags }) => isUntold(tags)).map((instance) => [instance.id, instance]))
  const busy = new Set(strange.filter(({ what }) => what === 'adopt').map(({ userId }) => userId))
  // Without an instance, a start is still in progress, and its job continues with the same token, unless its user has
  // started another one since.
  const ends = live.flatMap((run): Repair[] => {
    const instance = byRun.get(run.id) ?? untold.get(run.instanceId ?? '') ?? null
    const isOver = instance ? !isAlive(instance) : run.instanceId !== null || busy.has(run.userId)
    if (!isOver) return []
    return [{ what: 'end_run', instanceId: run.instanceId, runId: run.id, userId: run.userId, instance }]
  })
  // People have one live run each: end the old ones first.
  const found = { live, ends, seen, strange, region, homes: await homesOf(db, live) }
  return { repairs: [...ends, ...strange], ...doubtsAbout(found) }
}

/** The watcher ends the instances of runs that we end here, so a wrong region, key, or database must not end them all. */
function doubtsAbout({ live, ends, seen, strange, region, homes }: Found): Omit<Plan, 'repairs'> {
  const launched = live.filter(({ instanceId }) => instanceId !== null).length
  const missing = ends.filter((each) => each.instance === null && each.instanceId !== null)
  const foreign = strange.filter(({ what }) => what === 'end_instance')
  const alive = new Set([...seen.filter(isAlive), ...foreign.map(({ instance }) => instance)]).size
  const doubts: string[] = []
  const doubted: Repair[] = []
  if (isDoubtful(missing.length, launched)) {
    const where = homes.length ? ` Their places are in ${homes.join(' and ')}.` : ''
    doubts.push(
      `EC2 in ${region} doesn't know ${missing.length} of the ${launched} servers that run according to the database.${where} Check AWS_REGION and the access key's account.`,
    )
    doubted.push(...missing)
  }
  if (isDoubtful(foreign.length, alive)) {
    doubts.push(
      `The database doesn't know the owners of ${foreign.length} of the ${alive} instances in ${region}. Check LIBSQL_URL, AWS_REGION, and --since.`,
    )
    doubted.push(...foreign)
  }
  return { doubts, doubted: doubted.flatMap(({ runId, instanceId }) => runId ?? instanceId ?? []) }
}

/** Without its texts: all live runs must fit into one answer of libSQL. */
type Live = { id: string; userId: string; instanceId: string | null; placeId: string }
type Found = { live: Live[]; seen: CloudInstance[]; region: string; homes: string[] } & Record<
  'ends' | 'strange',
  Repair[]
>

/** So few servers run in a small fleet that even one may be half of them. */
const isDoubtful = (strange: number, all: number) => areMany(strange, all) || (strange > 0 && strange * 2 >= all)

/** The regions of the places that these runs have. */
async function homesOf(db: Context['db'], live: Live[]): Promise<string[]> {
  const ofRuns = new Set(live.map(({ placeId }) => placeId))
  const all = await db.select({ id: places.id, zone: places.availabilityZone }).from(places)
  return [...new Set(all.filter(({ id }) => ofRuns.has(id)).map(({ zone }) => zone.replace(/[a-z]$/, '')))].sort()
}

const isAlive = ({ state }: CloudInstance) => state === 'pending' || state === 'running'

function describe(instance: CloudInstance): Omit<Repair, 'what'> {
  const { id, tags } = instance
  return { instanceId: id, runId: tags.session ?? null, userId: tags.user ?? null, instance }
}

/** A start that moved to another place launched more than one: the live one counts, otherwise the latest. */
function onePerRun(instances: CloudInstance[]): CloudInstance[] {
  const ofRuns = instances.filter(({ tags }) => tags.session)
  const rank = (one: CloudInstance) => (isAlive(one) ? Number.MAX_SAFE_INTEGER : (one.launchTime ?? 0))
  ofRuns.sort((a, b) => rank(a) - rank(b))
  return [...new Map(ofRuns.map((instance) => [instance.tags.session, instance])).values()]
}

/** When its run got it. A warm machine was launched long before. */
export function begunAt({ launchTime, tags }: CloudInstance): number | null {
  const given = Date.parse(tags.given ?? '')
  return Number.isNaN(given) ? launchTime : given
}

/** Whether it's waiting for a run, or has just been taken by one and hasn't heard of it. */
const isUntold = (tags: CloudInstance['tags']) => tags.warm !== undefined && tags.session === undefined

/** Machines that are waiting, and those that live runs have taken. */
async function warmTokens(db: Context['db']): Promise<Set<string>> {
  const rows = await db.all<{ token: string }>(sql`SELECT token FROM warm_machines
    UNION SELECT token FROM server_sessions JOIN launches ON launches.session_id = server_sessions.id
    WHERE server_sessions.ended_at IS NULL`)
  return new Set(rows.map(({ token }) => token))
}

async function idsAmong(db: Context['db'], table: 'users' | 'server_sessions', ids: Set<string>): Promise<Set<string>> {
  const all = [...ids]
  const found = new Set<string>()
  for (let i = 0; i < all.length; i += AT_ONCE)
    for (const { id } of await db.all<{ id: string }>(
      sql`SELECT id FROM ${sql.identifier(table)} WHERE ${inArray(sql`id`, all.slice(i, i + AT_ONCE))}`,
    ))
      found.add(id)
  return found
}
