import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Fault } from './faults.ts'
import type { Instance } from './instance.ts'

export type Ec2State = { instances: Instance[]; faults: Fault[] }

export function readState(path: string): Ec2State {
  if (!existsSync(path)) return { instances: [], faults: [] }
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Ec2State
  } catch (cause) {
    throw new Error(`${path} is not the EC2 stand-in's state. Delete it to start with no instances.`, { cause })
  }
}

/**
 * Whole or not at all, whenever the process is killed. Synchronous, so that a change and its writing are one step
 * that no other call sees the middle of.
 */
export function writeState(path: string, state: Ec2State): void {
  writeFileSync(`${path}.new`, JSON.stringify(state))
  renameSync(`${path}.new`, path)
}
