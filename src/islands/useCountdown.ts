import { useEffect, useState } from 'react'

/** Counts down from `seconds` to 0 while `running`, then calls `onEnd` once. */
export function useCountdown(seconds: number, running: boolean, onEnd: () => void): number {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    if (!running) return
    if (left <= 0) {
      onEnd()
      return
    }
    const timer = setTimeout(() => setLeft(left - 1), 1000)
    return () => clearTimeout(timer)
  }, [left, running, onEnd])
  return left
}
