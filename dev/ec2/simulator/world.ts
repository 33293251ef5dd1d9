/** Meters everywhere: x east, z north, y up. */
export type Point = readonly [x: number, z: number]

/** An obstacle: a box aligned with the compass. `shape` is how it looks. */
export type Solid = {
  shape: 'block' | 'house' | 'car' | 'pine' | 'tree'
  x0: number
  x1: number
  y0: number
  y1: number
  z0: number
  z1: number
  /** From 0 to 1, to vary its looks. */
  tone: number
}

/** A frame to pass through, in the direction of its heading. Meters; `y` is its middle. */
export type Gate = { x: number; y: number; z: number; heading: number; width: number; height: number }

export type World = {
  id: 'blocks' | 'neighborhood' | 'mountains'
  name: string
  /** Whether the ground is level, at height 0. */
  flat: boolean
  ground(x: number, z: number): number
  solids: Solid[]
  /** Painted on the ground: corners in order. */
  roads: Point[][]
  /** The gates' positions in order, and how high the middle of a UAV's gate is above the ground. */
  spots: readonly (readonly [x: number, z: number, lift: number])[]
  /** How far from the middle anything can get. */
  edge: number
}

/** A box's position is the middle of its base. */
export function solid(
  shape: Solid['shape'],
  [x, z]: Point,
  [width, height, depth]: readonly [number, number, number],
  { base = 0, tone = 0.5 } = {},
): Solid {
  const [w, d] = [width / 2, depth / 2]
  return { shape, x0: x - w, x1: x + w, y0: base, y1: base + height, z0: z - d, z1: z + d, tone }
}

/** mulberry32: numbers in [0, 1), the same in every browser, so that a world never changes. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** How far a point is from the closed line through `spots`. */
export function distanceToCourse(spots: World['spots'], [x, z]: Point): number {
  let nearest = Number.POSITIVE_INFINITY
  spots.forEach(([ax, az], i) => {
    const [bx, bz] = spots[(i + 1) % spots.length] as (typeof spots)[number]
    const [dx, dz] = [bx - ax, bz - az]
    const along = Math.max(0, Math.min(1, ((x - ax) * dx + (z - az) * dz) / (dx * dx + dz * dz)))
    nearest = Math.min(nearest, Math.hypot(x - ax - along * dx, z - az - along * dz))
  })
  return nearest
}

/** The height of the ground, or of the top of whatever is in the way of something at height `from`. */
export function topAt(world: World, x: number, z: number, from = Number.POSITIVE_INFINITY): number {
  let top = world.ground(x, z)
  for (const s of world.solids)
    if (x > s.x0 && x < s.x1 && z > s.z0 && z < s.z1 && s.y0 < from) top = Math.max(top, s.y1)
  return top
}

export type Vec = readonly [x: number, y: number, z: number]

/** How far a ray goes before it hits something, up to `reach`; null if it hits nothing. `along` has length 1. */
export function raycast(world: World, [x, y, z]: Vec, [dx, dy, dz]: Vec, reach: number): number | null {
  let hit = groundHit(world, [x, y, z], [dx, dy, dz], reach)
  for (const s of world.solids) {
    let from = 0
    let to = hit
    for (const [at, toward, low, high] of [
      [x, dx, s.x0, s.x1],
      [y, dy, s.y0, s.y1],
      [z, dz, s.z0, s.z1],
    ] as const) {
      if (Math.abs(toward) < 1e-9) {
        if (at < low || at > high) to = -1
        continue
      }
      const [a, b] = [(low - at) / toward, (high - at) / toward]
      from = Math.max(from, Math.min(a, b))
      to = Math.min(to, Math.max(a, b))
    }
    if (from <= to) hit = Math.min(hit, from)
  }
  return hit < reach ? hit : null
}

function groundHit(world: World, [x, y, z]: Vec, [dx, dy, dz]: Vec, reach: number): number {
  if (world.flat) return dy < -1e-9 ? Math.min(reach, -y / dy) : reach
  const stride = 1.2
  for (let far = stride; far < reach; far += stride) {
    const above = y + dy * far - world.ground(x + dx * far, z + dz * far)
    if (above > 0) continue
    const before = y + dy * (far - stride) - world.ground(x + dx * (far - stride), z + dz * (far - stride))
    return far - (stride * -above) / (before - above || 1)
  }
  return reach
}
