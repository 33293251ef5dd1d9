import type { Instances } from './instances.ts'

/** An action's inputs: the instances, the clock, and the region from the caller's signature. */
export type Ec2Account = { instances: Instances; now: () => number; region: string }
