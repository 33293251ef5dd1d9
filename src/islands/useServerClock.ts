import { useEffect, useState } from 'react'

/**
 * The server's clock, every second. It starts at the time the server rendered with, so hydration finds the same text.
 * @param told the time that the server last gave
 */
export function useServerClock(told: number): number {
  const [now, setNow] = useState(told)
  useEffect(() => {
    const ahead = told - Date.now()
    const tick = () => {
      if (!document.hidden) setNow(Date.now() + ahead)
    }
    tick()
    const timer = setInterval(tick, 1000)
    document.addEventListener('visibilitychange', tick)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [told])
  return now
}
