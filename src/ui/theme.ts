export type Theme = 'light' | 'dark' | 'system'

export function isTheme(value: unknown): value is Theme {
  return value === 'light' || value === 'dark' || value === 'system'
}

/** What a browser paints around the page: our ground in each theme. */
export const THEME_COLORS = [
  { of: 'dark', color: '#081012' },
  { of: 'light', color: '#f7f9f9' },
] as const

/** When a color counts: as the system has it, or by what was chosen. */
export function colorMedia(of: Theme, chosen: Theme): string {
  if (chosen === 'system') return `(prefers-color-scheme: ${of})`
  return of === chosen ? 'all' : 'not all'
}
