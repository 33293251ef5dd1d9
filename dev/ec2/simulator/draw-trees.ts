import type { Brush } from './brush.ts'
import type { Solid } from './world.ts'

/** Trees turn to the eye: lit on the left, dark on the right. */
export function paintPine(brush: Brush, solid: Solid, far: number): void {
  const { lens, palette, pen } = brush
  const [x, z] = [(solid.x0 + solid.x1) / 2, (solid.z0 + solid.z1) / 2]
  const foot = lens.project([x, solid.y0, z])
  const scale = lens.scale([x, solid.y0, z])
  if (!foot || foot[0] < -80 || foot[0] > lens.width + 80) return
  const mist = brush.mist(far)
  const tall = (solid.y1 - solid.y0) * scale * Math.cos(lens.eye.tilt)
  const [left, base] = foot
  pen.fillStyle = palette.surface('roof', 0.2, mist)
  pen.fillRect(left - 0.12 * scale, base - tall * 0.25, 0.24 * scale, tall * 0.25)
  for (const [low, high, wide] of [
    [0.14, 0.56, 1.35],
    [0.36, 0.78, 1.05],
    [0.58, 1, 0.75],
  ] as const) {
    const [bottom, top, half] = [base - tall * low, base - tall * high, wide * scale * (0.85 + solid.tone * 0.3)]
    const [l, r] = [left - half, left + half]
    const tip = [left, top] as const
    brush.shape([tip, [l, bottom], [left, bottom + half * 0.18]], palette.surface('leaf', 0.95, mist))
    brush.shape([tip, [left, bottom + half * 0.18], [r, bottom]], palette.surface('leaf', 0.3, mist))
  }
}

export function paintTree(brush: Brush, solid: Solid, far: number): void {
  const { lens, palette, pen } = brush
  const [x, z] = [(solid.x0 + solid.x1) / 2, (solid.z0 + solid.z1) / 2]
  const foot = lens.project([x, solid.y0, z])
  const crown = lens.project([x, solid.y0 + (solid.y1 - solid.y0) * 0.66, z])
  if (!foot || !crown || foot[0] < -80 || foot[0] > lens.width + 80) return
  const scale = lens.scale([x, solid.y0, z])
  const mist = brush.mist(far)
  brush.line(
    [x, solid.y0, z],
    [x, solid.y0 + (solid.y1 - solid.y0) * 0.5, z],
    palette.surface('roof', 0.3, mist),
    0.28 * scale,
  )
  const radius = (solid.y1 - solid.y0) * 0.34 * scale
  const blob = (dx: number, dy: number, size: number, lit: number) => {
    pen.fillStyle = palette.surface('leaf', lit, mist)
    pen.beginPath()
    for (let i = 0; i < 9; i++) {
      const angle = ((i + solid.tone) / 9) * 2 * Math.PI
      pen.lineTo(crown[0] + (dx + size * Math.sin(angle)) * radius, crown[1] + (dy + size * Math.cos(angle)) * radius)
    }
    pen.fill()
  }
  blob(0, 0, 1, 0.25)
  blob(-0.2, -0.18, 0.76, 0.65)
  blob(-0.34, -0.34, 0.42, 1)
}
