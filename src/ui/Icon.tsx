/**
 * Outlines from Lucide (ISC License, © Lucide Contributors), each one path on a 24 × 24 grid. Islands bundle all of
 * them, so icons that only the page frame needs are in `frame-icons.ts`.
 */
const CIRCLE = 'M2 12a10 10 0 1 0 20 0a10 10 0 1 0-20 0'

const PATHS = {
  check: 'M20 6 9 17l-5-5',
  'circle-alert': `${CIRCLE}M12 8v4M12 16h.01`,
  'circle-check': `${CIRCLE}M9 12l2 2 4-4`,
  copy: 'M9 9h12v12H9ZM5 15H3V3h12v2',
  info: `${CIRCLE}M12 16v-4M12 8h.01`,
  lock: 'M5 11h14v10H5ZM8 11V7a4 4 0 0 1 8 0v4',
  play: 'M6 4l14 8-14 8Z',
  'triangle-alert': 'M12 3 2 21h20ZM12 9v5M12 17h.01',
  x: 'M18 6 6 18M6 6l12 12',
}

export type IconName = keyof typeof PATHS

/** Decoration only: say the same in words beside it, or in its button's `aria-label`. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return <Outline path={PATHS[name]} size={size} />
}

export function Outline({ path, size = 16 }: { path: string; size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  )
}
