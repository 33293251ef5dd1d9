import type { Ec2Account } from './account.ts'
import { type FilterFields, requestFilter } from './filters.ts'
import { type Instance, stateOf } from './instance.ts'
import { describeReservation } from './instance-answer.ts'
import { pageOf } from './pages.ts'
import type { QueryRequest } from './query-request.ts'
import type { Xml } from './xml.ts'

/** The filters that our calls and tests use. */
function instanceFields(now: number): FilterFields<Instance> {
  const fields: Record<string, (instance: Instance) => (string | null)[]> = {
    'availability-zone': (instance) => [instance.availabilityZone],
    'client-token': (instance) => [instance.clientToken],
    'instance-id': (instance) => [instance.id],
    'instance-state-name': (instance) => [stateOf(instance, now)],
    'tag-key': (instance) => Object.keys(instance.tags),
  }
  return (name) => {
    if (!name.startsWith('tag:')) return Object.hasOwn(fields, name) ? fields[name] : undefined
    const key = name.slice('tag:'.length)
    return (instance) => [Object.hasOwn(instance.tags, key) ? (instance.tags[key] ?? null) : null]
  }
}

export function describeInstances(
  request: QueryRequest,
  { instances, now, region }: Ec2Account,
): { [name: string]: Xml } {
  const ids = request.list('InstanceId')
  const filter = requestFilter(request, instanceFields(now()))
  const chosen = (ids.length > 0 ? instances.named(ids, region) : instances.described(region)).filter(filter)
  const { page, nextToken } = pageOf(request, chosen)
  const reservations = Map.groupBy(page, (instance) => instance.reservationId)
  return {
    reservationSet: [...reservations.values()].map((launched) => describeReservation(launched, now())),
    nextToken,
  }
}
