import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { DIST, type Stack, startStack } from '../../dev/stack.ts'
import { drivesWorker, isBuilt } from '../watch.ts'
import { hasMachineTools, hasNamespaces } from './machine-tools.ts'
import { quickHasher } from './quick-hasher.ts'
import { hasTerminals } from './terminal.ts'
import { CACHE } from './third-party.ts'

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
  // Every folder of this run is inside, so one removal suffices even for a killed worker's.
  const folder = mkdtempSync(join(tmpdir(), 'proving-ground-test-'))
  process.env.TMPDIR = folder
  // Workers and programs compile the same modules: the first keeps them for the others, and for the next run.
  process.env.NODE_COMPILE_CACHE = join(CACHE, 'compiled')
  const dataDir = join(folder, 'shared-stack')
  let stack: Stack | null = null
  const close = async () => {
    await stack?.close()
    stack = null
  }
  const open = async () => {
    stack = await startStack({ dataDir, ec2BootMs: 300, fleetSize: 200, log: () => {}, ...quickHasher })
    project.provide('url', stack.url)
    project.provide('databaseUrl', stack.services.vars.LIBSQL_URL as string)
    project.provide('ec2Endpoint', stack.services.vars.EC2_ENDPOINT as string)
  }
  if (!hasTerminals) console.log("The command line's tests on a terminal are skipped: `script` can't open one here.")
  if (!hasMachineTools) console.log("The tests of a machine's start are skipped: they need bash and curl.")
  if (!hasNamespaces)
    console.log("The test of a machine's firewall is skipped: it needs curl, ip, iptables, and network namespaces.")
  if (project.config.watch) await build()
  await open()

  let stale = false
  project.vite.watcher.on('all', (_, path) => {
    if (isBuilt(path)) stale = true
  })
  // Tests that need no Worker do not wait for a new one.
  project.onTestsRerun(async (tests) => {
    if (!stale || !tests.some(({ moduleId }) => drivesWorker(moduleId))) return
    // After a failed build, no test may run against an old one.
    await close()
    rmSync(DIST, { recursive: true, force: true })
    stale = false
    try {
      await build()
      await open()
    } catch (error) {
      stale = true
      console.error((error as { stderr?: string }).stderr ?? error)
    }
  })
  return async () => {
    await close()
    rmSync(dataDir, ALL)
    for (const left of leftIn(folder)) console.error(`The tests left behind ${left}`)
    rmSync(folder, ALL)
  }
}

/** Browsers and workers that are just ending may still write there. */
const ALL = { recursive: true, force: true, maxRetries: 10 }

/** What the helpers should have removed or ended by now: see at-end.ts. */
function leftIn(folder: string): string[] {
  const processes = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  const commands = processes.map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    } catch {
      return ''
    }
  })
  const files = readdirSync(folder).filter((name) => !name.startsWith(CHROMIUMS_OWN))
  return [...files, ...commands.filter((command) => command.includes(folder))]
}

/** Closed while a page paints, Chromium leaves an empty file. One that still runs is found by its command. */
const CHROMIUMS_OWN = '.org.chromium.Chromium.'

/** Vitest's own NODE_ENV would have React built for development. */
const build = () => promisify(execFile)('npm', ['run', 'build'], { env: { ...process.env, NODE_ENV: 'production' } })
