/**
 * An AWS error code, `lost_response`, `timeout`, or a reason why a launched instance dies while it is pending
 * (`Server.InternalError`), optionally limited to an action or an instance.
 */
export type Ec2Fault = { fault: string; action?: string | undefined; instance_id?: string | undefined }

/** What faults match on. `launches` is false if RunInstances only repeats an earlier launch. */
type FaultyCall = { action: string; instanceIds: string[]; launches: boolean }

// EC2 returns these codes only for launches.
const launchOnly =
  /^(Insufficient\w*Capacity|InsufficientFreeAddressesInSubnet|(Instance|Vcpu)LimitExceeded|Max\w+Exceeded|Unsupported|Invalid(AMI|LaunchTemplate|Subnet|Group|KeyPair)\w*)/
const namedOnly = /^(InvalidInstanceID|IncorrectInstanceState|IncorrectState)/

/** No answer contains such a code: EC2 writes it into an instance's StateReason. */
export const isDeath = (fault: string): boolean => /^(Server|Client)\./.test(fault)

function isPossible(fault: string, call: FaultyCall): boolean {
  if (isDeath(fault) || launchOnly.test(fault)) return call.launches
  if (/^Idempotent/.test(fault)) return call.action === 'RunInstances'
  if (namedOnly.test(fault)) return call.instanceIds.length > 0
  return true
}

export function canHit({ fault, action, instance_id }: Ec2Fault, call: FaultyCall): boolean {
  return (
    (action ?? call.action) === call.action &&
    (instance_id === undefined || call.instanceIds.includes(instance_id)) &&
    isPossible(fault, call)
  )
}

/** Throws a sentence unless the fault is an AWS error code or one of ours. */
export function expectKnown(fault: string): void {
  if (!/^(lost_response|timeout|[A-Z][A-Za-z]+(\.[A-Za-z]+)*)$/.test(fault))
    throw new Error(`'${fault}' is neither an AWS error code nor lost_response, timeout or terminate_instance.`)
}
