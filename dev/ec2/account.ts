import type { Instances } from './instances.ts'

/** What an action works on: the instances, the clock, and the region that the caller's signature names. */
export type Ec2Account = { instances: Instances; now: () => number; region: string }
