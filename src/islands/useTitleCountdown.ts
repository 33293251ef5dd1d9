import { useEffect, useRef } from 'react'
import { countdownText } from '../domain/money/trial.ts'

/** In the meantime, the bell may change it. */
const ownTitle = () => document.title.replace(/^.* left · /, '')

/**
 * Counts down in the tab's title, even while the tab is hidden: that's when people read titles.
 * @param seconds left; null shows the page's own title
 */
export function useTitleCountdown(seconds: number | null, inWords = countdownText): void {
  /** When it reaches zero, by this machine's clock. A hidden page no longer updates `seconds`. */
  const endsAt = useRef(0)
  if (seconds !== null) endsAt.current = Date.now() + seconds * 1000
  const counting = seconds !== null
  useEffect(() => {
    if (!counting) return
    const tick = () => {
      document.title = `${inWords((endsAt.current - Date.now()) / 1000)} left · ${ownTitle()}`
    }
    tick()
    const timer = setInterval(tick, 1000)
    return () => {
      clearInterval(timer)
      document.title = ownTitle()
    }
  }, [counting])
}
