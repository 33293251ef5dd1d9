import { useEffect, useState } from 'react'

/**
 * The server's clock, every second: starts at what the server rendered with, so that hydration finds the same text.
 * @param told what the server last said that its time is
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
