import type { Random } from '../../testing/random.ts'
import type { Person } from './people.ts'
import type { World } from './world.ts'

/** What someone does in a row: single steps almost never produce the states that need it. */
export type Habit = (world: World, random: Random, person: Person, people: Person[]) => Promise<void>

export const at = (world: World, moment: number) => world.advance(Math.max(0, moment - world.clock.ms))

export async function does(world: World, person: Person, name: string, run: () => unknown): Promise<void> {
  await world.together([{ name: `${person.user.name} ${name}`, run: async () => run() }])
  await world.watch()
}
