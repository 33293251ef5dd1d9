import type { Instances } from './instances.ts'

/**
 * An action's inputs: the instances, the clock, the region from the caller's signature, and why its launches die while
 * they are pending, if they do.
 */
export type Ec2Account = { instances: Instances; now: () => number; region: string; dies?: string | undefined }
