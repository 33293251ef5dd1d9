import type { Instances } from './instances.ts'

/**
 * An action's inputs: the instances, the clock, the region from the caller's signature, and why what it launches dies
 * while it is pending, if it does.
 */
export type Ec2Account = { instances: Instances; now: () => number; region: string; dies?: string | undefined }
