export type Theme = 'light' | 'dark' | 'system'

export function isTheme(value: unknown): value is Theme {
  return value === 'light' || value === 'dark' || value === 'system'
}

/** The color browsers paint around the page: our background in each theme. */
export const THEME_COLORS = [
  { of: 'dark', color: '#081012' },
  { of: 'light', color: '#f7f9f9' },
] as const

/** The media query for a color: the system's preference, or the user's choice. */
export function colorMedia(of: Theme, chosen: Theme): string {
  if (chosen === 'system') return `(prefers-color-scheme: ${of})`
  return of === chosen ? 'all' : 'not all'
}
