import { afterEach, expect } from 'vitest'
import { memoryDatabase } from '../stack/memory-database.ts'
import { inBrief } from '../stack/recorded-log.ts'
import { openWorld, type World } from './world.ts'

/** A test file's own world. A test that lets something go wrong takes the lines about it: none may remain. */
export async function quietWorld(): Promise<World> {
  const world = await openWorld(memoryDatabase())
  afterEach(() => {
    world.answerMs = 0
    expect(inBrief(world.takeLines())).toEqual([])
  })
  return world
}
