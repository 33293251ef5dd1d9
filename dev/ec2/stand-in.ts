import { join } from 'node:path'
import { Calls } from '../stand-in/calls.ts'
import { Faults } from '../stand-in/faults.ts'
import { listenWhereBefore, type StandInOptions } from '../stand-in/server.ts'
import { Store } from '../stand-in/store.ts'
import { answersAfter } from './container.ts'
import { DataFolders } from './data-folders.ts'
import { type Ec2Fault, expectKnown } from './faults.ts'
import { type InstanceRecord, recordOf } from './history.ts'
import { openIdentities, type Proof } from './identity.ts'
import { beginsAt, hasBegun, type Instance, type InstanceState, privateIp, publicIp, stateOf } from './instance.ts'
import { Instances } from './instances.ts'
import { MachineLogs } from './machine-logs.ts'
import { type Ec2Call, Protocol } from './protocol.ts'
import { WarmMachines } from './warm-machines.ts'
import { WebListeners } from './web-listeners.ts'
import { leaveIdle } from './web-page.ts'

export type Ec2Options = StandInOptions & {
  /** How long an instance stays pending. */
  bootMs?: number
  /** How long it stays shutting-down. */
  shutdownMs?: number
  /** The port of every instance's page. */
  webPort?: number
  /** The origin of the site, for the links of those pages. */
  siteUrl?: string
  /** The instances' first address slot. */
  firstSlot?: number
  /** How many machines speak for themselves, at most. */
  talkingMachines?: number
}

type RunningOrPastInstance = {
  instanceId: string
  name: string
  state: InstanceState
  publicIp: string | null
  privateIp: string | null
  clientToken: string | null
  instanceType: string
  availabilityZone: string
  tags: Record<string, string>
  launchedAt: number
}

export type Ec2StandIn = {
  endpoint: string
  /**
   * Hits the next `times` calls the fault applies to. A fault is an AWS error code, `lost_response` (we act but never
   * answer), `timeout` (we neither act nor answer), or a reason such as `Server.InternalError`, which kills the
   * launched instance while it is pending. `terminate_instance` ends the instance at once.
   * Throws a sentence if the fault or the instance is unknown.
   */
  inject(fault: string, times: number, options?: { instance_id?: string; action?: string }): void
  /** Cancels all pending faults. */
  heal(): void
  /** Pretends that nobody has used an instance's page for this long. */
  leaveIdle(instanceId: string, seconds: number): void
  /** While held, no instance finishes booting or shutting down, so a test can look at it as long as it needs. */
  hold(held: boolean): void
  /** Someone deploys the zones again. */
  newTemplateVersion(): void
  /** How many requests its machines have sent to the site about themselves. */
  machineRequests(): number
  /** What Amazon would publish for the region: it verifies what `proofOf` signs. */
  certificate: string
  /** What an instance's metadata service says about it. */
  proofOf(instanceId: string): Proof
  /** Covers every instance ever. */
  history(): InstanceRecord[]
  calls(): Ec2Call[]
  /** What DescribeInstances would return now. */
  instances(): RunningOrPastInstance[]
  close(): Promise<void>
}

export const openEc2Store = (dataDir: string): Store => new Store(join(dataDir, 'ec2.jsonl'))

export async function startEc2(options: Ec2Options): Promise<Ec2StandIn> {
  const {
    dataDir,
    bootMs = 3000,
    shutdownMs = 1000,
    now = Date.now,
    webPort = 5173,
    siteUrl = null,
    firstSlot = 0,
    talkingMachines = 500,
    log = () => {},
  } = options
  const store = openEc2Store(dataDir)
  const instances = new Instances(store, { now, bootMs, shutdownMs, firstSlot })
  const faults = new Faults<Ec2Fault>(store)
  const calls = new Calls<Ec2Call>()

  const identities = openIdentities(store)
  const shutDown = (id: string) => {
    instances.shutItselfDown(id)
    store.commit()
  }
  const data = new DataFolders({ siteUrl, identities, now, shutDown }, instances.running().filter(hasBegun))
  const page = { now, siteUrl, dataOf: (id: string) => data.of(id) }
  const web = new WebListeners({ port: webPort, page, log })
  const find = (id: string) => instances.all().find((instance) => instance.id === id)
  const logs = new MachineLogs({ siteUrl, identities, now, find, most: talkingMachines })
  const begin = (id: string, pulled: string[]) => {
    instances.begin(id, pulled)
    store.commit()
  }
  const warm = new WarmMachines({ siteUrl, identities, now, begin })
  const followClock = () => {
    const all = instances.running()
    warm.follow(all)
    const running = all.filter(hasBegun)
    logs.follow(running)
    const answers = (instance: Instance) =>
      beginsAt(instance) + (answersAfter(instance) ?? Infinity) <= now() && logs.mayRun(instance)
    return web.follow(data.follow(running).filter(answers))
  }
  await followClock()
  const timer = setInterval(followClock, 50)

  const protocol = new Protocol({ instances, faults, calls, now })
  const server = await listenWhereBefore(store)
  server.serve(async (asked) => {
    const outcome = protocol.answer(asked)
    store.commit()
    // If an answer says running, the page must respond.
    await followClock()
    return outcome
  })

  return {
    endpoint: server.url,
    inject(fault, times, { instance_id, action } = {}) {
      if (fault === 'terminate_instance') instances.vanish(instance_id ?? '')
      else {
        expectKnown(fault)
        faults.add({ fault, action, instance_id }, times)
      }
      store.commit()
      void followClock()
    },
    leaveIdle: (instanceId, seconds) => leaveIdle(instanceId, seconds, now()),
    heal: () => faults.heal(),
    newTemplateVersion() {
      instances.newTemplateVersion()
      store.commit()
    },
    machineRequests: () => logs.sent(),
    certificate: identities.certificate,
    proofOf: (id) => {
      const [instance] = instances.named([id])
      if (!instance) throw new Error(`There is no ${id}`)
      return identities.proofOf(instance, now())
    },
    hold(held) {
      instances.hold(held)
      store.commit()
    },
    history: () => instances.all().map((instance) => recordOf(instance, now())),
    calls: () => calls.latest(),
    instances: () =>
      instances.described().map((instance) => ({
        instanceId: instance.id,
        name: instance.tags.Name ?? instance.id,
        state: stateOf(instance, now()),
        publicIp: publicIp(instance, now()),
        privateIp: privateIp(instance, now()),
        clientToken: instance.clientToken,
        instanceType: instance.instanceType,
        availabilityZone: instance.availabilityZone,
        tags: instance.tags,
        launchedAt: instance.launchedAt,
      })),
    async close() {
      clearInterval(timer)
      data.close()
      logs.close()
      warm.close()
      await Promise.all([server.close(), web.close()])
    },
  }
}
