import type { Ec2Account } from './account.ts'
import { Ec2Error } from './ec2-error.ts'
import { requestFilter } from './filters.ts'
import { type Instance, stateOf } from './instance.ts'
import { stateAnswer } from './instance-answer.ts'
import { pageOf } from './pages.ts'
import type { QueryRequest } from './query-request.ts'
import type { Xml } from './xml.ts'

const checksMs = 10_000
const mostIds = 100

/** Both status checks, which always agree here: no data before it runs, then initializing, then passed. */
function checkStatus(instance: Instance, now: number): { status: string; reachability: string | null } {
  const state = stateOf(instance, now)
  if (state === 'pending') return { status: 'insufficient-data', reachability: 'insufficient-data' }
  if (state !== 'running') return { status: 'not-applicable', reachability: null }
  if (now < instance.runsFrom + checksMs) return { status: 'initializing', reachability: 'initializing' }
  return { status: 'ok', reachability: 'passed' }
}

/** Our calls use no filters here. */
const noFilters = () => undefined

function statusAnswer(instance: Instance, now: number): Xml {
  const { status, reachability } = checkStatus(instance, now)
  const details = reachability === null ? undefined : [{ name: 'reachability', status: reachability }]
  return {
    instanceId: instance.id,
    availabilityZone: instance.availabilityZone,
    instanceState: stateAnswer(stateOf(instance, now)),
    systemStatus: { status, details },
    instanceStatus: { status, details },
  }
}

export function describeInstanceStatus(
  request: QueryRequest,
  { instances, now, region }: Ec2Account,
): { [name: string]: Xml } {
  const ids = request.list('InstanceId')
  if (ids.length > mostIds) {
    const message = `${ids.length} exceeds the maximum number of instance IDs that can be specified (${mostIds}). Please specify fewer than ${mostIds} instance IDs.`
    throw new Ec2Error('InvalidRequest', message)
  }
  const filter = requestFilter(request, noFilters)
  const known = ids.length > 0 ? instances.named(ids, region) : instances.described(region)
  const seen = request.flag('IncludeAllInstances')
    ? known
    : known.filter((instance) => stateOf(instance, now()) === 'running')
  const { page, nextToken } = pageOf(request, seen.filter(filter))
  return { instanceStatusSet: page.map((instance) => statusAnswer(instance, now())), nextToken }
}
