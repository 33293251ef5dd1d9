import { distanceToCourse, type Point, type Solid, seeded, solid, type World } from './world.ts'

/** The trail around the central peak, by bearing. */
const trail = (bearing: number) => 64 + 9 * Math.sin(2 * bearing + 0.6) + 6 * Math.sin(3 * bearing)
const trailPoint = (bearing: number, off = 0): Point => [
  (trail(bearing) + off) * Math.sin(bearing),
  (trail(bearing) + off) * Math.cos(bearing),
]

const lifts = [4, 5, 8, 11, 6, 4, 4, 7, 10, 13, 8, 5, 4, 6]
const spots: World['spots'] = lifts.map((lift, i) => [...trailPoint((i / lifts.length) * 2 * Math.PI), lift] as const)

const smooth = (value: number) => {
  const t = Math.max(0, Math.min(1, value))
  return t * t * (3 - 2 * t)
}
const ridge = (value: number) => 1 - Math.abs(Math.sin(value))

function ground(x: number, z: number): number {
  const far = Math.sqrt(x * x + z * z)
  const bearing = Math.atan2(x, z)
  const off = far - trail(bearing)
  const slope = smooth((Math.abs(off) - 7) / 42)
  const ridges =
    0.55 * ridge(x * 0.031 + 0.9 * Math.sin(z * 0.021) + 0.4) +
    0.3 * ridge(z * 0.047 - 0.7 * Math.sin(x * 0.033) + 1.1) +
    0.15 * ridge((x - z) * 0.083 + 0.5 * Math.sin(x * 0.09))
  const rise = off > 0 ? 16 + 22 * smooth((far - 90) / 90) : 12 + 14 * smooth((50 - far) / 50)
  const trailHeight = 2.6 * Math.sin(2 * bearing) + 1.4 * Math.sin(3 * bearing + 1)
  const rough = 0.5 * Math.sin(x * 0.31 + 0.7) * Math.sin(z * 0.27)
  return trailHeight + slope * (rise * (0.25 + ridges * 1.15) + 5) + rough * (0.25 + slope)
}

/** Pines up to the tree line, off the trail. */
function pines(): Solid[] {
  const random = seeded(5)
  const found: Solid[] = []
  for (let tries = 0; found.length < 170 && tries < 2000; tries++) {
    const [bearing, side, off] = [random() * 2 * Math.PI, random() < 0.4 ? -1 : 1, 8 + random() ** 1.6 * 46]
    const at = trailPoint(bearing, side * off)
    const [height, tone] = [4 + random() * 4, random()]
    const base = ground(...at)
    if (base > 17 || distanceToCourse(spots, at) < 8) continue
    found.push(solid('pine', at, [1.6, height + 0.6, 1.6], { base: base - 0.6, tone }))
  }
  return found
}

/** The trail, as a strip of short pieces. */
const roads: Point[][] = Array.from({ length: 160 }, (_, i) => {
  const [from, to] = [(i / 160) * 2 * Math.PI, ((i + 1) / 160) * 2 * Math.PI]
  return [trailPoint(from, -2.8), trailPoint(from, 2.8), trailPoint(to, 2.8), trailPoint(to, -2.8)]
})

export const mountains: World = {
  id: 'mountains',
  name: 'Mountains',
  flat: false,
  ground,
  solids: pines(),
  roads,
  spots,
  edge: 150,
}
