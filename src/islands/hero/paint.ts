import {
  beam,
  drift,
  drone,
  ground,
  HEIGHT,
  type Point,
  profile,
  profiles,
  project,
  rover,
  SWEEP_STEP,
  sweeps,
  trail,
  type Vec,
  WIDTH,
} from './scene.ts'

const ROWS = profiles(42)
const COLUMNS = 72
const TURN = 2 * Math.PI

export type Colours = { ground: string; profile: string; returns: string; uav: string }

/** The canvas follows the theme by asking the still picture of the page, which CSS has coloured. */
export function stillColours(): Colours {
  const style = (part: string) => getComputedStyle(document.querySelector(`.frame ${part}`) ?? document.body)
  const { fill, stroke } = style('.profile')
  return { ground: fill, profile: stroke, returns: style('.returns').stroke, uav: style('.uav').color }
}

/** Draws the scene at `t` as large as it takes to cover the canvas, like `preserveAspectRatio="xMidYMid slice"`. */
export function paint(g: CanvasRenderingContext2D, t: number, colours: Colours): void {
  const { canvas } = g
  const scale = Math.max(canvas.width / WIDTH, canvas.height / HEIGHT)
  /** A pixel of the screen in units of the picture. */
  const px = devicePixelRatio / scale
  const shift = drift(t)
  const at = (p: Vec) => project(p, shift)
  const trace = (points: readonly Point[]) => {
    g.beginPath()
    for (const p of points) g.lineTo(...p)
  }
  const stroke = (points: readonly Point[], colour: string, width: number) => {
    trace(points)
    g.strokeStyle = colour
    g.lineWidth = width * px
    g.stroke()
  }

  g.setTransform(1, 0, 0, 1, 0, 0)
  g.clearRect(0, 0, canvas.width, canvas.height)
  g.setTransform(scale, 0, 0, scale, (canvas.width - WIDTH * scale) / 2, (canvas.height - HEIGHT * scale) / 2)
  g.lineJoin = 'round'

  const swept = sweeps(t)
  let row = 0
  ROWS.forEach((z, i) => {
    const returns = () => {
      g.fillStyle = colours.returns
      for (let s = swept[row]; s && s.z > z; s = swept[++row]) {
        for (let x = s.from; x < s.to; x += SWEEP_STEP) {
          const y = ground(x, s.z)
          const [sx, sy] = at([x, y, s.z])
          g.globalAlpha = Math.min(1, 0.6 + y * 0.25)
          g.fillRect(sx - px * 0.8, sy - px * 0.8, px * 1.6, px * 1.6)
        }
      }
    }
    returns()
    const points = profile(z, COLUMNS, shift)
    g.globalAlpha = 1
    g.fillStyle = colours.ground
    trace(points)
    g.lineTo(WIDTH, HEIGHT)
    g.lineTo(0, HEIGHT)
    g.fill()
    g.globalAlpha = 0.3 + (0.6 * i) / ROWS.length
    stroke(points, colours.profile, 1)
  })

  g.globalAlpha = 0.25
  g.fillStyle = colours.returns
  trace(beam(t).map(at))
  g.fill()
  g.globalAlpha = 0.55
  stroke(trail(t, 40).map(at), colours.uav, 1)
  g.globalAlpha = 1

  const [x, y] = at(drone(t).at)
  for (const side of [-1, 1])
    stroke(
      [
        [x - 17, y - 5 * side],
        [x + 17, y + 5 * side],
      ],
      colours.uav,
      1.8,
    )
  for (const [dx, dy] of [
    [-17, -6],
    [17, -6],
    [-17, 5],
    [17, 5],
  ] as const) {
    g.beginPath()
    g.ellipse(x + dx, y + dy, 10, 4, 0, 0, TURN)
    g.stroke()
  }
  const [rx, ry] = at(rover(t))
  const body: Point[] = [
    [-15, -6],
    [15, -6],
    [15, -15],
    [6, -15],
    [1, -22],
    [-8, -22],
    [-8, -15],
    [-15, -15],
    [-15, -6],
  ]
  stroke(
    body.map(([bx, by]) => [rx + bx, ry + by]),
    colours.returns,
    1.6,
  )
  for (const dx of [-10, 10]) {
    g.beginPath()
    g.arc(rx + dx, ry - 3, 4, 0, TURN)
    g.stroke()
  }
  g.font = `${Math.max(15, 11 * px)}px ui-monospace,monospace`
  g.fillStyle = colours.uav
  g.fillText('UAV-01', x + 36, y - 6)
  g.fillStyle = colours.returns
  g.fillText('UGV-02', rx + 24, ry - 8)
}
