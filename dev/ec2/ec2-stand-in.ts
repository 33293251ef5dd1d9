import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Ec2Call } from './calls.ts'
import { Faults } from './faults.ts'
import { History, type InstanceRecord } from './history.ts'
import { type InstanceState, privateIp, publicIp, stateOf } from './instance.ts'
import { Instances } from './instances.ts'
import { Protocol } from './protocol.ts'
import { readState, writeState } from './state-file.ts'
import { WebListeners } from './web-listeners.ts'

export type Ec2Options = {
  /** Where the instances are kept; they come back, running pages and all, when started again with the same. */
  dataDir: string
  /** Port of the API; a free one when left out. */
  port?: number
  /** How long an instance stays pending. */
  bootMs?: number
  /** How long it stays shutting-down. */
  shutdownMs?: number
  /** The stack's clock, in ms. */
  now?: () => number
  /** Port on which each instance's page answers. */
  webPort?: number
  /** Where the instances' addresses begin. */
  firstSlot?: number
  log?: (sentence: string) => void
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
   * Hits the next `times` calls that the fault can happen to: an AWS error code, `lost_response` (done, but the answer
   * never arrives) or `timeout` (not done, no answer). `terminate_instance` ends the instance at once. Throws a sentence
   * when the fault or the instance is not known.
   */
  inject(fault: string, times: number, options?: { instance_id?: string; action?: string }): void
  history(): InstanceRecord[]
  calls(): Ec2Call[]
  /** What DescribeInstances would tell now. */
  instances(): RunningOrPastInstance[]
  close(): Promise<void>
}

export async function startEc2(options: Ec2Options): Promise<Ec2StandIn> {
  const {
    dataDir,
    port = 0,
    bootMs = 3000,
    shutdownMs = 1000,
    now = Date.now,
    webPort = 5173,
    firstSlot = 0,
    log = () => {},
  } = options
  mkdirSync(dataDir, { recursive: true })
  const statePath = join(dataDir, 'ec2.json')
  const state = readState(statePath)
  const instances = new Instances(state.instances, { now, bootMs, shutdownMs, firstSlot })
  const faults = new Faults(state.faults)
  const history = new History(join(dataDir, 'ec2-history.jsonl'))
  history.follow(state.instances)
  const save = () => {
    writeState(statePath, { instances: instances.kept(), faults: faults.kept() })
    history.follow(instances.kept())
  }

  const web = new WebListeners({ port: webPort, log })
  const followClock = () => web.follow(instances.running())
  await followClock()
  const timer = setInterval(followClock, 50)

  const protocol = new Protocol({ instances, faults, now, save, followClock })
  const server = createServer((request, response) => protocol.answer(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    inject(fault, times, { instance_id, action } = {}) {
      if (fault === 'terminate_instance') instances.vanish(instance_id ?? '')
      else
        faults.add({ fault, left: times, ...(action && { action }), ...(instance_id && { instanceId: instance_id }) })
      save()
      void followClock()
    },
    history: () => history.records(now()),
    calls: () => protocol.calls(),
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
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await Promise.all([closed, web.close()])
    },
  }
}
