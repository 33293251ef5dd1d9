import type { Availability, Machine } from './wire/fleet.ts'

/** NVIDIA L4 GPUs, CPUs, and GB of memory of EC2's g6 machines. */
const G6: Record<string, [gpus: number, cpus: number, memoryGb: number]> = {
  'g6.xlarge': [1, 4, 16],
  'g6.2xlarge': [1, 8, 32],
  'g6.4xlarge': [1, 16, 64],
  'g6.8xlarge': [1, 32, 128],
  'g6.12xlarge': [4, 48, 192],
  'g6.16xlarge': [1, 64, 256],
  'g6.24xlarge': [4, 96, 384],
  'g6.48xlarge': [8, 192, 768],
}

const L4_GB = 24

/** Null for an unknown type. */
export function gpusOfType(instanceType: string): number | null {
  return G6[instanceType]?.[0] ?? null
}

/** Bytes of its GPUs' memory, and of its own. Null for an unknown type. */
export function memoryOfType(instanceType: string): { gpu: number; own: number } | null {
  const shape = G6[instanceType]
  return shape ? { gpu: shape[0] * L4_GB * 2 ** 30, own: shape[2] * 2 ** 30 } : null
}

/** What would start now, then the first of each smaller size. Candidates are in the order of reserving. */
export function machinesOf(candidates: Availability['candidates']): Machine[] {
  const sizes = new Map<number | null, Machine>()
  for (const offer of candidates) {
    const gpus = gpusOfType(offer.instance_type)
    if (offer.available && !sizes.has(gpus)) sizes.set(gpus, offer)
  }
  return [...sizes.values()]
}

/** The machine in plain words: `1 × L4, 16 CPU, 64 GB, us-east-1a`. An unknown type keeps EC2's name. */
export function machineText(instanceType: string, zone?: string | null): string {
  const shape = G6[instanceType]
  const machine = shape ? `${shape[0]} × L4, ${shape[1]} CPU, ${shape[2]} GB` : instanceType
  return zone ? `${machine}, ${zone}` : machine
}

/** For tables: `1 × L4`. */
export function shortMachineText(instanceType: string): string {
  const gpus = gpusOfType(instanceType)
  return gpus === null ? instanceType : `${gpus} × L4`
}

/** For someone who got a larger plan while a server is running. */
export function restartGives(gpus: number): string {
  const machine = gpus > 8 ? 'larger machines' : `${gpus} × L4`
  return `Your plan now includes ${machine}. To use ${gpus > 8 ? 'one' : 'them'}, stop this server and start another.`
}
