import { useEffect, useRef } from 'react'

/**
 * Calls `poll` every `everyMs`, but not while the page is hidden. A page shown again after longer than that polls at
 * once, and so does one whose network is back. Never two at a time: a poll that comes due during another one waits.
 * Unmounting aborts a poll in progress.
 */
export function usePoll(poll: (signal: AbortSignal) => Promise<void>, everyMs: number, enabled = true): void {
  const latest = useRef({ poll, everyMs })
  const reschedule = useRef<() => void>(undefined)
  latest.current = { poll, everyMs }
  useEffect(() => {
    if (!enabled) return
    const abort = new AbortController()
    let last = Date.now()
    let timer = 0
    let underWay = false
    const tick = async () => {
      last = Date.now()
      underWay = true
      // `poll` handles its own failures. If it throws, that is our bug, and no reason to stop.
      await latest.current.poll(abort.signal).catch(reportError)
      underWay = false
      schedule()
    }
    const schedule = () => {
      clearTimeout(timer)
      if (underWay || abort.signal.aborted || document.hidden) return
      timer = window.setTimeout(tick, Math.max(0, last + latest.current.everyMs - Date.now()))
    }
    const online = () => {
      last = 0
      schedule()
    }
    reschedule.current = schedule
    schedule()
    document.addEventListener('visibilitychange', schedule)
    window.addEventListener('online', online)
    return () => {
      abort.abort()
      window.removeEventListener('online', online)
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', schedule)
    }
  }, [enabled])
  useEffect(() => reschedule.current?.(), [everyMs])
}
