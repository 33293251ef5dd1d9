import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import type { Outcome } from './run-seed.ts'
import type { Scenario, Schedule } from './schedule.ts'

/** What a process plays before it reports, as the code is or with a mistake. */
export type Task = { scenario: Scenario; seeds: number[]; schedules?: Schedule[]; mutant?: string | undefined }

/** A process that plays worlds: `player.ts`. */
export class Player {
  #child: ChildProcess = fork(new URL('./player.ts', import.meta.url))

  play(task: Task): Promise<Outcome[]> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`A world's process ended with ${code}.`))
      this.#child.once('exit', ended)
      this.#child.once('message', (outcomes) => {
        this.#child.off('exit', ended)
        resolve(outcomes as Outcome[])
      })
      this.#child.send(task)
    })
  }

  end(): void {
    this.#child.kill()
  }
}

/** Does this work for each of them, in as many processes as there are cores. */
export async function inProcesses<T>(all: T[], work: (player: Player, one: T) => Promise<void>): Promise<void> {
  const waiting = [...all]
  const worker = async () => {
    const player = new Player()
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await work(player, one)
    player.end()
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
}

/** Long worlds report one by one. */
export function chunks(what: Pick<Task, 'scenario' | 'mutant'>, from: number, count: number): Task[] {
  const size = what.scenario === 'year' || what.scenario === 'competition' ? 1 : 25
  return Array.from({ length: Math.ceil(count / size) }, (_, n) => ({
    ...what,
    seeds: Array.from({ length: Math.min(size, count - n * size) }, (_, i) => from + n * size + i),
  }))
}
