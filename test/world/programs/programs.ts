import type { RunRow } from '../../../db/schema/fleet.ts'
import { hasBegun } from '../../../dev/ec2/instance.ts'
import { LogStore } from '../../../src/server/channel/log-store.ts'
import type { RunLogCalls } from '../../../src/server/ports/objects.ts'
import { noLog } from '../../../testing/stack/no-log.ts'
import { objectStorage } from '../../../testing/stack/object-storage.ts'
import { runLogOn } from '../../../testing/world/run-log.ts'
import type { Task } from '../program.ts'
import type { World } from '../world.ts'
import { Agent } from './agent.ts'
import { type Plan, USUAL_PLAN } from './plan.ts'

/** The machines of runs until exit, and the logs to which they speak. The others say nothing here. */
export class Programs {
  readonly #world: World
  readonly #agents = new Map<string, Agent>()
  readonly #plans = new Map<string, Plan>()
  readonly #kept = new Map<string, ReturnType<typeof objectStorage>>()
  #stores = new Map<string, LogStore>()

  constructor(world: World) {
    this.#world = world
  }

  /** What this person's next programs do. */
  plan(userId: string, plan: Plan): void {
    this.#plans.set(userId, plan)
  }

  of({ instanceId }: Pick<RunRow, 'instanceId'>): Agent | undefined {
    return this.#agents.get(instanceId ?? '')
  }

  moments(): number[] {
    for (const instance of this.#world.ec2.alive())
      if (instance.tags.agent === 'required' && hasBegun(instance) && !this.#agents.has(instance.id))
        this.#agents.set(
          instance.id,
          new Agent(this.#world, instance, this.#plans.get(instance.tags.user ?? '') ?? USUAL_PLAN),
        )
    return [...this.#agents.values()].map((agent) => agent.moment())
  }

  due(until: number): Task[] {
    return [...this.#agents]
      .filter(([, agent]) => agent.moment() <= until)
      .map(([id, agent]) => ({ name: `agent of ${id}`, run: () => agent.run() }))
  }

  /** The objects forget what they hold in memory. */
  forget(): void {
    this.#stores.clear()
  }

  logOf(runId: string): RunLogCalls {
    const { call } = this.#world.program
    const agent = [...this.#agents.values()].find((one) => one.runId === runId)
    if (!agent) return { ...noLog, end: (now) => call('log: end', () => noLog.end(now)) }
    return {
      ...runLogOn(this.#store(runId), call),
      // Taken, whether or not its machine hears of that.
      append: (batch, now) =>
        call('log: append', async () => {
          if (this.#store(runId).refuses(batch)) return 'over'
          agent.heard.push(now)
          return { ...this.#store(runId).append(batch, now), every_seconds: 30 as const }
        }),
      heardAt: (now) =>
        call('log: heard', async () => {
          this.sayQuietly(agent, now)
          return this.#store(runId).heardFor(now)
        }),
      provenUntil: (now) =>
        call('log: proven', async () => {
          this.sayQuietly(agent, now)
          return this.#store(runId).provenUntil(now)
        }),
    }
  }

  /** What the machine has said until then that changes only when we last heard of it. */
  sayQuietly(agent: Agent, until: number): void {
    const at = agent.lastQuietWord(until)
    const store = this.#store(agent.runId)
    const word = { first: agent.next, lines: [], phase: null, samples: [sampleOf(at ?? 0)], complete: false }
    if (at === null || store.refuses(word)) return
    store.append(word, at)
    agent.heard.push(at)
  }

  #store(runId: string): LogStore {
    const kept = this.#kept.get(runId) ?? objectStorage()
    const store = this.#stores.get(runId) ?? new LogStore(kept)
    this.#kept.set(runId, kept)
    this.#stores.set(runId, store)
    return store
  }
}

function sampleOf(at: number) {
  const unknown = { gpu_percent: null, gpu_memory_bytes: null, cpu_percent: null, memory_bytes: null }
  return { at, ...unknown, disk_bytes: null, disk_total_bytes: null, sent_bytes: null, received_bytes: null }
}
