import type { Point } from '../../islands/hero/scene.ts'

/** Whole numbers relative to the previous point: the shortest way to write a line in SVG. */
export function line(points: readonly Point[]): string {
  let [x, y] = [0, 0]
  return points
    .map(([px, py], i) => {
      const [dx, dy] = [Math.round(px) - x, Math.round(py) - y]
      x += dx
      y += dy
      return `${i ? (i === 1 ? 'l' : dx < 0 ? '' : ' ') : 'm'}${dx}${dy < 0 ? '' : ' '}${dy}`
    })
    .join('')
}
