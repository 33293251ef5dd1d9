import {
  ASIDE,
  beam,
  drift,
  drone,
  ground,
  HEIGHT,
  profile,
  profiles,
  project,
  rover,
  SWEEP_STEP,
  sweeps,
  trail,
  UAV,
  UGV,
  type Vec,
  WIDTH,
} from './scene.ts'

/** What the page wants painted. */
export type Frame = {
  t: number
  /** The canvas's size, in device pixels. */
  width: number
  height: number
  /** Device pixels per CSS pixel. */
  ratio: number
  /** Dollars per second of a running server. */
  price: number
} & Record<'ground' | 'profile' | 'returns' | 'uav', string>

/** Scales the scene to cover the canvas, like `preserveAspectRatio="xMidYMid slice"`. */
export function paint(g: OffscreenCanvasRenderingContext2D, { t, width, height, ratio, ...colors }: Frame): void {
  // Setting the size clears the canvas and resets every setting.
  Object.assign(g.canvas, { width, height })
  const scale = Math.max(width / WIDTH, height / HEIGHT)
  g.setTransform(scale, 0, 0, scale, (width - WIDTH * scale) / 2, (height - HEIGHT * scale) / 2)
  /** A CSS pixel in units of the picture. */
  const px = ratio / scale
  const shift = drift(t)
  const at = (p: Vec) => project(p, shift)
  const trace = (points: Vec[]) => {
    g.beginPath()
    for (const p of points) g.lineTo(...at(p))
  }
  g.lineJoin = 'round'
  g.lineWidth = px

  const swept = sweeps(t)
  let row = 0
  profiles(42).forEach((z, i) => {
    g.fillStyle = colors.returns
    for (let s = swept[row]; s && s.z > z; s = swept[++row]) {
      for (let x = s.from; x < s.to; x += SWEEP_STEP) {
        const y = ground(x, s.z)
        const [left, top] = at([x, y, s.z])
        g.globalAlpha = 0.6 + y * 0.25
        g.fillRect(left, top, px * 1.6, px * 1.6)
      }
    }
    trace(profile(z, 72, shift))
    // Its sides lie outside the picture.
    g.lineTo(WIDTH + 9, HEIGHT + 9)
    g.lineTo(0, HEIGHT + 9)
    g.globalAlpha = 1
    g.fillStyle = colors.ground
    g.fill()
    g.globalAlpha = 0.3 + i / 70
    g.strokeStyle = colors.profile
    g.stroke()
  })

  g.globalAlpha = 0.25
  g.fillStyle = colors.returns
  trace(beam(t))
  g.fill()
  g.globalAlpha = 0.55
  g.strokeStyle = colors.uav
  trace(trail(t, 40))
  g.stroke()

  g.globalAlpha = 1
  g.font = `${4 + 11 * px}px ui-monospace,monospace`
  const vehicle = (p: Vec, name: string, path: string, color: string) => {
    const [x, y] = at(p)
    g.translate(x, y)
    g.strokeStyle = colors.ground
    g.lineWidth = px * 6
    // Keeps lines from running through the name.
    g.strokeText(name, ...ASIDE)
    g.lineWidth = px * 1.7
    g.strokeStyle = g.fillStyle = color
    g.stroke(new Path2D(path))
    g.fillText(name, ...ASIDE)
    g.translate(-x, -y)
  }
  vehicle(drone(t).at, ...UAV, colors.uav)
  vehicle(rover(t), ...UGV, colors.returns)
}
