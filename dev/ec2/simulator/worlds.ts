import { blocks } from './blocks.ts'
import { mountains } from './mountains.ts'
import { neighborhood } from './neighborhood.ts'
import type { World } from './world.ts'

export const worlds: Record<World['id'], World> = { blocks, neighborhood, mountains }
