import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recordOf } from '../../../dev/ec2/history.ts'
import { type InstanceState, isTokenKept, publicIp, stateOf } from '../../../dev/ec2/instance.ts'
import { Instances } from '../../../dev/ec2/instances.ts'
import { Store } from '../../../dev/stand-in/store.ts'
import { temporaryFolder } from '../../../testing/stack/at-end.ts'

const order: InstanceState[] = ['pending', 'running', 'shutting-down', 'terminated']
const hour = 3_600_000

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('launch' as const), token: fc.nat(4), zone: fc.nat(1), type: fc.nat(1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('terminate' as const, 'vanish' as const), which: fc.nat(7) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.oneof(fc.nat(5000), fc.nat(26 * hour)) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
)

test('always: states only advance, a token starts one instance, no two share an address, history adds up', () => {
  const folder = temporaryFolder('ec2')
  let runs = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let now = 1_000_000
      const options = { now: () => now, bootMs: 3000, shutdownMs: 1000, firstSlot: 0 }
      const path = join(folder, `${runs++}.jsonl`)
      let store = new Store(path)
      let instances = new Instances(store, options)
      const kept = () => instances.all().filter((instance) => isTokenKept(instance, now))
      const reached = new Map<string, number>()
      const ofToken = new Map<string, { id: string; type: number }>()

      for (const next of steps) {
        if (next.do === 'wait') now += next.ms
        if (next.do === 'restart') {
          const before = instances.all()
          store = new Store(path)
          instances = new Instances(store, options)
          expect(instances.all()).toEqual(before)
        }
        if (next.do === 'terminate' || next.do === 'vanish') {
          const ids = instances.described().map((instance) => instance.id)
          const id = ids[next.which % ids.length]
          if (id && next.do === 'terminate') instances.terminate([id])
          if (id && next.do === 'vanish') instances.vanish(id)
        }
        if (next.do === 'launch') {
          const zone = next.zone === 0 ? null : 'us-east-1b'
          const key = `${next.token} ${zone}`
          const earlier = ofToken.get(key)
          const still = kept().find((instance) => instance.id === earlier?.id)
          const launch = () =>
            instances.launch({
              count: 1,
              clientToken: String(next.token),
              tokenZone: zone,
              fingerprint: String(next.type),
              instanceType: 'g6.xlarge',
              imageId: 'ami-12345678',
              availabilityZone: zone ?? 'us-east-1a',
              tags: {},
            })[0]?.id ?? ''
          if (still && earlier?.type !== next.type) expect(launch).toThrow('inconsistent with arguments')
          else if (still && stateOf(still, now) === 'terminated') expect(launch).toThrow('terminated instance')
          else if (still) expect(launch()).toBe(still.id)
          else ofToken.set(key, { id: launch(), type: next.type })
        }
        store.commit()

        for (const instance of kept()) {
          const state = order.indexOf(stateOf(instance, now))
          expect(state).toBeGreaterThanOrEqual(reached.get(instance.id) ?? 0)
          reached.set(instance.id, state)
        }
        const slots = instances.described().map((instance) => instance.slot)
        expect(new Set(slots).size).toBe(slots.length)
        for (const instance of instances.running()) expect(publicIp(instance, now)).toMatch(/^127\.64\./)
      }

      const records = instances.all().map((instance) => recordOf(instance, now))
      expect(records).toHaveLength(reached.size)
      for (const { launchedAt, runningAt, shuttingDownAt, terminatedAt, instanceId } of records) {
        const moments = [launchedAt, runningAt, shuttingDownAt, terminatedAt].filter((moment) => moment !== null)
        expect(moments).toEqual([...moments].sort((a, b) => a - b))
        const state = order[reached.get(instanceId) ?? 0]
        if (state === 'running') expect([runningAt, shuttingDownAt]).toEqual([expect.any(Number), null])
      }
    }),
    { numRuns: 300 },
  )
})
