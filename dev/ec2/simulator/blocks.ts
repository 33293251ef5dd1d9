import { distanceToCourse, type Solid, seeded, solid, type World } from './world.ts'

const spots: World['spots'] = [
  [0, -26, 4],
  [0, 12, 4],
  [20, 38, 8],
  [50, 34, 12],
  [58, 0, 7],
  [40, -30, 4],
  [20, -56, 5],
  [-20, -64, 8],
  [-50, -38, 5],
  [-52, 2, 10],
  [-36, 24, 7],
  [-20, 2, 4],
  [-20, -22, 4],
  [-8, -50, 4],
]

/** Gray cubes on a level floor, stacked and in rows: nothing to look at but where you fly. */
function cubes(): Solid[] {
  const random = seeded(7)
  const found: Solid[] = []
  for (let column = -6; column <= 6; column++)
    for (let row = -6; row <= 6; row++) {
      const size = 5 + Math.floor(random() * 3) * 2.5
      const at = [column * 15 + (random() - 0.5) * 5, row * 15 + (random() - 0.5) * 5] as const
      const height = size * (random() < 0.3 ? 2 : random() < 0.5 ? 1 : 0.5)
      const tone = random()
      const [stacked, cap] = [random() < 0.3, random()]
      if (distanceToCourse(spots, at) < size * 0.71 + 5.5 || Math.hypot(...at) > 96) continue
      found.push(solid('block', at, [size, height, size], { tone }))
      if (stacked)
        found.push(
          solid('block', [at[0] + 0.8, at[1] - 0.6], [size * 0.6, size * 0.6, size * 0.6], { base: height, tone: cap }),
        )
    }
  return found
}

/** Two towers and a beam across the course: fly or drive through. */
const arch = [
  solid('block', [-6.5, -7], [4, 11, 4], { tone: 0.2 }),
  solid('block', [6.5, -7], [4, 11, 4], { tone: 0.2 }),
  solid('block', [0, -7], [17, 3, 4], { base: 11, tone: 0.9 }),
]

export const blocks: World = {
  id: 'blocks',
  name: 'Blocks',
  flat: true,
  ground: () => 0,
  solids: [...cubes().filter(({ x0, x1, z0, z1 }) => x0 > 9 || x1 < -9 || z0 > -4 || z1 < -10), ...arch],
  roads: [],
  spots,
  edge: 110,
}
