/** How much of a trial is left, in minutes: amber from 5, red from 1. */
export type TrialLevel = 'enough' | 'low' | 'last' | 'over'

export function trialLevel(minutesLeft: number): TrialLevel {
  if (minutesLeft <= 0) return 'over'
  if (minutesLeft <= 1) return 'last'
  return minutesLeft <= 5 ? 'low' : 'enough'
}

/** How the banner looks, and what screen readers hear when the trial gets there. */
export const TRIAL_LEVELS = {
  enough: { kind: 'info', news: '' },
  low: { kind: 'warning', news: 'Your free trial ends in 5 minutes.' },
  last: { kind: 'danger', news: 'Your free trial ends in 1 minute.' },
  over: { kind: 'warning', news: '' },
} as const

/** A trial's minutes, in the one way we write them: `4.98`. Each second has a text of its own. */
export function minutesText(minutes: number): string {
  return Math.max(0, minutes).toFixed(2)
}

/** `mm:ss`, for other countdowns. */
export function countdownText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const two = (n: number) => String(n).padStart(2, '0')
  return `${two(Math.floor(whole / 60))}:${two(whole % 60)}`
}
