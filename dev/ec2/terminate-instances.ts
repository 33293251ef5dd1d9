import type { Ec2Account } from './account.ts'
import { Ec2Error } from './ec2-error.ts'
import { stateAnswer } from './instance-answer.ts'
import type { QueryRequest } from './query-request.ts'
import type { Xml } from './xml.ts'

export function terminateInstances(request: QueryRequest, { instances, region }: Ec2Account): { [name: string]: Xml } {
  const ids = request.list('InstanceId')
  if (ids.length === 0) throw new Ec2Error('InvalidParameterCombination', 'No instances specified')
  const instancesSet = instances.terminate(ids, region).map(({ instance, previous, current }) => ({
    instanceId: instance.id,
    currentState: stateAnswer(current),
    previousState: stateAnswer(previous),
  }))
  return { instancesSet }
}
