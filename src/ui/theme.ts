export type Theme = 'light' | 'dark' | 'system'

export function isTheme(value: unknown): value is Theme {
  return value === 'light' || value === 'dark' || value === 'system'
}

/** What a browser paints around the page: our ground in each theme. */
export const THEME_COLOURS = [
  { of: 'dark', colour: '#081012' },
  { of: 'light', colour: '#f7f9f9' },
] as const

/** When a colour counts: as the system has it, or by what was chosen. */
export function colourMedia(of: Theme, chosen: Theme): string {
  if (chosen === 'system') return `(prefers-color-scheme: ${of})`
  return of === chosen ? 'all' : 'not all'
}
