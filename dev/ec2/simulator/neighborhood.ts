import { distanceToCourse, type Point, type Solid, seeded, solid, type World } from './world.ts'

const spots: World['spots'] = [
  [0, -24, 3],
  [0, 16, 5],
  [0, 48, 6],
  [26, 48, 9],
  [48, 48, 6],
  [48, 12, 4],
  [48, -20, 10],
  [48, -48, 6],
  [22, -48, 3],
  [0, -48, 3],
]

const streets = [-96, -48, 0, 48, 96]
const half = 3.6
const block = 48

const roads: Point[][] = streets.flatMap((at): Point[][] => [
  [
    [at - half, -110],
    [at + half, -110],
    [at + half, 110],
    [at - half, 110],
  ],
  [
    [-110, at - half],
    [110, at - half],
    [110, at + half],
    [-110, at + half],
  ],
])

/** Four lots to a block, each with a house, trees along the streets, and cars at the curb. */
function lots(): Solid[] {
  const random = seeded(21)
  const found: Solid[] = []
  const place = (next: Solid, room: number) => {
    const at = [(next.x0 + next.x1) / 2, (next.z0 + next.z1) / 2] as const
    const reach = Math.max(next.x1 - next.x0, next.z1 - next.z0) / 2
    if (distanceToCourse(spots, at) > reach + room) found.push(next)
  }
  for (const x of streets.slice(0, -1))
    for (const z of streets.slice(0, -1)) {
      const middle = [x + block / 2, z + block / 2] as const
      for (const [right, up] of [
        [-1, -1],
        [1, -1],
        [-1, 1],
        [1, 1],
      ] as const) {
        const at = [middle[0] + right * (9.5 + random()), middle[1] + up * (9.5 + random())] as const
        const wide = random() < 0.5
        const [long, short] = [10 + random() * 3, 7.5 + random() * 1.5]
        const size = wide ? ([long, 5 + random() * 2.5, short] as const) : ([short, 5 + random() * 2.5, long] as const)
        place(solid('house', at, size, { tone: random() }), 4)
        const [trunk, tall] = [at[0] + right * (7.2 + random() * 1.2), 4.5 + random() * 3]
        place(solid('tree', [trunk, at[1] - up * 5 * random()], [2.4, tall, 2.4], { tone: random() }), 4)
        place(solid('tree', [at[0] - right * 6.5, at[1] + up * 7.4], [2.2, tall * 0.8, 2.2], { tone: random() }), 4)
        if (random() < 0.6)
          place(
            solid('car', [x + half + 1.4, middle[1] + up * (6 + random() * 8)], [1.8, 1.5, 4.2], { tone: random() }),
            3.4,
          )
      }
    }
  return found
}

export const neighborhood: World = {
  id: 'neighborhood',
  name: 'Neighborhood',
  flat: true,
  ground: () => 0,
  solids: lots(),
  roads,
  spots,
  edge: 108,
}
