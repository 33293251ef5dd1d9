import type { Random } from '../../../testing/random.ts'
import type { Person } from '../people.ts'
import type { Task } from '../program.ts'
import type { World } from '../world.ts'

/** What someone does in a row: single steps almost never produce the states that need it. */
export type Habit = (world: World, random: Random, person: Person, people: Person[]) => Promise<void>

export const at = (world: World, moment: number) => world.advance(Math.max(0, moment - world.clock.ms))

export async function does(world: World, person: Person, name: string, run: () => unknown): Promise<void> {
  await world.together([task(person, name, async () => run())])
  await world.watch()
}

export const task = ({ user }: Person, name: string, run: Task['run']): Task => ({ name: `${user.name} ${name}`, run })
export const starts = (person: Person): Task => task(person, 'start', () => person.start())
export const stops = (person: Person): Task => task(person, 'stop', () => person.stop())
