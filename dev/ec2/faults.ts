/** A fault still to come: an AWS error code, `lost_response` or `timeout`; narrowed to an action, an instance, or neither. */
export type Fault = { fault: string; left: number; action?: string; instanceId?: string }

/** A call as faults see it. `launches` is false for RunInstances that only repeats an earlier launch. */
export type FaultyCall = { action: string; instanceIds: string[]; launches: boolean }

// Codes that real EC2 gives only where something is to be started.
const launchOnly =
  /^(Insufficient\w*Capacity|InsufficientFreeAddressesInSubnet|(Instance|Vcpu)LimitExceeded|Max\w+Exceeded|Unsupported|Invalid(AMI|LaunchTemplate|Subnet|Group|KeyPair)\w*)/
const namedOnly = /^(InvalidInstanceID|IncorrectInstanceState|IncorrectState)/

function isPossible(fault: string, call: FaultyCall): boolean {
  if (launchOnly.test(fault)) return call.launches
  if (/^Idempotent/.test(fault)) return call.action === 'RunInstances'
  if (namedOnly.test(fault)) return call.instanceIds.length > 0
  return true
}

export class Faults {
  readonly #faults: Fault[]

  constructor(kept: Fault[]) {
    this.#faults = kept
  }

  kept(): Fault[] {
    return this.#faults.filter((fault) => fault.left > 0)
  }

  /** Throws a sentence for what is neither an AWS error code nor a fault known here. */
  add(fault: Fault): void {
    if (!/^(lost_response|timeout|[A-Z][A-Za-z]+(\.[A-Za-z]+)*)$/.test(fault.fault)) {
      throw new Error(`'${fault.fault}' is neither an AWS error code nor lost_response, timeout or terminate_instance.`)
    }
    if (!Number.isInteger(fault.left) || fault.left < 1) {
      throw new Error('A fault needs the number of calls to hit, a whole number from 1 on.')
    }
    this.#faults.push(fault)
  }

  /** Uses up the first fault that fits the call. */
  take(call: FaultyCall): string | undefined {
    const fitting = this.#faults.find(
      (fault) =>
        fault.left > 0 &&
        (fault.action ?? call.action) === call.action &&
        (fault.instanceId === undefined || call.instanceIds.includes(fault.instanceId)) &&
        isPossible(fault.fault, call),
    )
    if (fitting) fitting.left -= 1
    return fitting?.fault
  }
}
