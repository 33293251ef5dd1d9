import { useEffect, useRef } from 'react'

/**
 * Calls `poll` every `everyMs`, not while the page is hidden, and at once when it is shown again after longer than that.
 * A poll that is under way is aborted when the component goes.
 */
export function usePoll(poll: (signal: AbortSignal) => Promise<void>, everyMs: number, enabled = true): void {
  const latest = useRef(poll)
  latest.current = poll
  useEffect(() => {
    if (!enabled) return
    const abort = new AbortController()
    let last = Date.now()
    let timer = 0
    const tick = async () => {
      last = Date.now()
      await latest.current(abort.signal)
      schedule()
    }
    const schedule = () => {
      clearTimeout(timer)
      if (abort.signal.aborted || document.hidden) return
      timer = window.setTimeout(tick, Math.max(0, last + everyMs - Date.now()))
    }
    schedule()
    document.addEventListener('visibilitychange', schedule)
    return () => {
      abort.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', schedule)
    }
  }, [everyMs, enabled])
}
