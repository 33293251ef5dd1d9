/**
 * The landing page's survey as a pure function of time: the server draws one frame as SVG, the canvas draws the rest.
 * Lengths are in units of 10 m, x to the right, y up, z away from the viewer; times are in seconds.
 */
export const WIDTH = 1280
export const HEIGHT = 800
/** One survey, plus a pause at its end. */
export const DURATION = 46
/** The moment of the still picture. */
export const STILL = 24.6

const EYE = { y: 5.6, z: -9, f: 830, horizon: 44 }
const TRACKS = 6
const TRACK_SECONDS = 6
const LEG_SECONDS = 7
const EDGE = 5.4
const SPACING = 1.2
/** Returns per sweep across a track, and sweeps per track. */
const ACROSS = 8
const ALONG = 90

/** The vehicles: name, and outline around their position in the picture. */
export const UAV = [
  'UAV-01',
  'M-17-5 17 5M17-5-17 5M-27-6a10 4 0 1 0 20 0a10 4 0 1 0-20 0M7-6a10 4 0 1 0 20 0a10 4 0 1 0-20 0M-27 5a10 4 0 1 0 20 0a10 4 0 1 0-20 0M7 5a10 4 0 1 0 20 0a10 4 0 1 0-20 0',
] as const
export const UGV = [
  'UGV-02',
  'M-15-6h30v-9h-9l-5-7h-9v7h-7zM-14-3a4 4 0 1 0 8 0a4 4 0 1 0-8 0M6-3a4 4 0 1 0 8 0a4 4 0 1 0-8 0',
] as const

/** How far a vehicle's name is from its position. */
export const ASIDE = [34, -6] as const

export type Point = readonly [x: number, y: number]
export type Vec = readonly [x: number, y: number, z: number]

export function ground(x: number, z: number): number {
  const ridge = Math.sin(x * 0.34 + 0.8) * Math.cos(z * 0.27 - 0.4)
  const detail = 0.34 * Math.sin(x * 0.93 + 1.3) * Math.sin(z * 0.81) + 0.07 * Math.sin(x * 2.3 + z) * Math.cos(z * 1.9)
  const away = Math.max(0, z - 5)
  const mountains = away * (0.11 * Math.sin(x * 0.24 - 0.9) + 0.06 * Math.sin(x * 0.61 + z * 0.35) + 0.05)
  return ridge * (0.8 + away * 0.03) + detail / (1 + away * 0.12) + mountains
}

/** How far the view has drifted sideways at `t`: just enough for parallax. */
export function drift(t: number): number {
  return 0.55 * Math.sin((t - STILL) * 0.17)
}

/** A level camera with its lens shifted down, so a point's x on screen does not depend on its height. */
export function project([x, y, z]: Vec, shift: number): Point {
  const scale = EYE.f / (z - EYE.z)
  return [WIDTH / 2 + (x - shift) * scale, EYE.horizon + (EYE.y - y) * scale]
}

/** Distances of the ground profiles, far to near: denser far away, so evenly spaced on screen. */
export function profiles(count: number): number[] {
  const near = 6.2
  const far = 29
  return Array.from({ length: count }, (_, i) => EYE.z + far * (near / far) ** (i / (count - 1)))
}

/** The ground along one profile, at `columns` even steps across the picture. */
export function profile(z: number, columns: number, shift: number): Vec[] {
  const across = (WIDTH * (z - EYE.z)) / EYE.f
  return Array.from({ length: columns + 1 }, (_, i) => {
    const x = shift + across * (i / columns - 0.5)
    return [x, ground(x, z), z]
  })
}

const trackZ = (track: number) => 5.9 - track * SPACING

/** Where the drone is, on which track, and how far along. It takes one second to turn between tracks. */
export function drone(t: number): { at: Vec; track: number; along: number } {
  const track = Math.min(TRACKS - 1, Math.floor(t / LEG_SECONDS))
  const inLeg = t - track * LEG_SECONDS
  const along = Math.min(1, inLeg / TRACK_SECONDS)
  const last = track === TRACKS - 1
  const turn = last ? 0 : Math.max(0, inLeg - TRACK_SECONDS) / (LEG_SECONDS - TRACK_SECONDS)
  const side = track % 2 ? -1 : 1
  const x = side * (-EDGE + 2 * EDGE * along + 0.7 * Math.sin(turn * Math.PI))
  const z = trackZ(track) - (SPACING * (1 - Math.cos(turn * Math.PI))) / 2
  const below = (ground(x - 0.8, z) + ground(x, z) + ground(x + 0.8, z)) / 3
  return { at: [x, below + 2.1 + 0.05 * Math.sin(t * 2.1), z], track, along }
}

/** The last seconds of its path, oldest first. */
export function trail(t: number, points: number): Vec[] {
  return Array.from({ length: points + 1 }, (_, i) => drone(Math.max(0, t - (4 * (points - i)) / points)).at)
}

/** What the lidar lights up at `t`: the drone, then the near edge of its footprint. */
export function beam(t: number): Vec[] {
  const { at } = drone(t)
  const z = at[2] - SPACING / 2
  return [at, ...[-0.32, 0.32].map((side): Vec => [at[0] + side, ground(at[0] + side, z), z])]
}

/** A ground vehicle that crosses the foreground. */
export function rover(t: number): Vec {
  const x = -4.6 + t * 0.17
  const z = -1.3 + 0.3 * Math.sin(t * 0.21)
  return [x, ground(x, z), z]
}

/** Rows of lidar returns parallel to the picture, far to near, each with the part swept by `t`. */
export function sweeps(t: number): { z: number; from: number; to: number }[] {
  const { track, along } = drone(t)
  return Array.from({ length: TRACKS * ACROSS }, (_, i) => {
    const k = Math.floor(i / ACROSS)
    const done = k < track ? 1 : k === track ? along : 0
    const z = trackZ(k) + SPACING * (0.5 - ((i % ACROSS) + 0.5) / ACROSS)
    const reached = EDGE - 2 * EDGE * done
    return k % 2 ? { z, from: reached, to: EDGE } : { z, from: -EDGE, to: -reached }
  })
}

export const SWEEP_STEP = (2 * EDGE) / ALONG

const meters = (units: number, digits: number) => (units * 10).toFixed(digits)

export const INSTRUMENTS = ['SIM', 'ALT', 'COVERED', 'RETURNS', 'COST', 'POS']

/** What the instruments read at `t`. `price` is dollars per second of a running server. */
export function readings(t: number, price: number): string[] {
  const { at, track, along } = drone(t)
  const covered = (track + along) / TRACKS
  return [
    `${t.toFixed(1)} s`,
    `${meters(at[1] - ground(at[0], at[2]), 1)} m`,
    `${(covered * 100).toFixed(0)} %`,
    Math.round(covered * TRACKS * ACROSS * ALONG).toLocaleString('en-US'),
    `$${(t * price).toFixed(4)}`,
    `${meters(at[0], 0)}, ${meters(at[2], 0)} m`,
  ]
}
