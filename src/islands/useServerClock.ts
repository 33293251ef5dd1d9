import { useEffect, useState } from 'react'

/** The server's clock, every second: starts at what the server rendered with, so that hydration finds the same text. */
export function useServerClock(renderedAt: number): number {
  const [now, setNow] = useState(renderedAt)
  useEffect(() => {
    const ahead = renderedAt - Date.now()
    const tick = () => {
      if (!document.hidden) setNow(Date.now() + ahead)
    }
    const timer = setInterval(tick, 1000)
    document.addEventListener('visibilitychange', tick)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [renderedAt])
  return now
}
