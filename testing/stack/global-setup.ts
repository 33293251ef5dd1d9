import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startStack } from '../../dev/stack.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The site: the built Worker with its whole local stack, shared by all tests. */
    url: string
    databaseUrl: string
    ec2Endpoint: string
  }
}

/**
 * One stack for the whole test run; every test makes its own user in it. Tests that move the clock or inject faults
 * start their own stack.
 */
export default async function setup(project: TestProject) {
  const dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-test-'))
  const stack = await startStack({ dataDir, ec2BootMs: 300, fleetSize: 200, log: () => {} })
  project.provide('url', stack.url)
  project.provide('databaseUrl', stack.services.vars.LIBSQL_URL as string)
  project.provide('ec2Endpoint', stack.services.vars.EC2_ENDPOINT as string)
  return async () => {
    await stack.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
