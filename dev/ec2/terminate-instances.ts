import type { Ec2Account } from './account.ts'
import { stateAnswer } from './instance-answer.ts'
import type { QueryRequest } from './query-request.ts'
import type { Xml } from './xml.ts'

export function terminateInstances(request: QueryRequest, { instances }: Ec2Account): { [name: string]: Xml } {
  request.required('InstanceId.1')
  const instancesSet = instances.terminate(request.list('InstanceId')).map(({ instance, previous, current }) => ({
    instanceId: instance.id,
    currentState: stateAnswer(current),
    previousState: stateAnswer(previous),
  }))
  return { instancesSet }
}
