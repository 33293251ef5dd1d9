import { useEffect, useRef, useState } from 'react'
import type { LogLine } from '../../domain/run-log.ts'
import { announce } from '../announce.ts'

/** `asking`: a quiet machine speaks every 30 s. `over`: the log is complete. `refused`: we can't follow it now, only after `waiting`. */
export type LogState = 'connecting' | 'asking' | 'live' | 'lost' | 'over' | 'waiting' | 'refused'

/** The most lines a page keeps; the download has all. */
const MOST_LINES = 100_000
const ASKING_MS = 30_000
const TRIES = 4
const AGAIN_MS = 10_000
/** Hidden pages draw no frames. */
const FLUSH_MS = 100

/**
 * A run's log from its beginning, as it grows. After a lost connection, it continues with the next line.
 * @param last its last lines, shown until the others arrive
 */
export function useLog(runId: string, last: LogLine[]): { lines: LogLine[]; state: LogState } {
  const [lines, setLines] = useState(last)
  const [state, setState] = useState<LogState>('connecting')
  const known = useRef<LogLine[]>([])
  useEffect(() => {
    let source: EventSource
    let timer: ReturnType<typeof setTimeout> | undefined
    let quiet: ReturnType<typeof setTimeout> | undefined
    let again: ReturnType<typeof setTimeout> | undefined
    let triesLeft = TRIES
    const flush = () => {
      timer = undefined
      if (known.current.length > MOST_LINES) known.current = known.current.slice(-MOST_LINES * 0.9)
      setLines([...known.current])
    }
    const open = () => {
      const opened = performance.now()
      const after = known.current.at(-1)?.n ?? 0
      source = new EventSource(`/api/v1/servers/${encodeURIComponent(runId)}/log?after=${after}`)
      source.onopen = () => {
        triesLeft = TRIES
        setState('asking')
        quiet = setTimeout(() => setState('live'), ASKING_MS)
      }
      source.onmessage = ({ data }: MessageEvent<string>) => {
        known.current.push(JSON.parse(data))
        timer ??= setTimeout(flush, FLUSH_MS)
        // Lines that it already had say nothing about the machine.
        if (performance.now() - opened > 2_000) setState('live')
      }
      source.addEventListener('end', () => {
        source.close()
        clearTimeout(quiet)
        setState('over')
        announce('The log is complete.')
      })
      source.onerror = () => {
        clearTimeout(quiet)
        const isLost = source.readyState === EventSource.CONNECTING
        // Refused: within 15 seconds, the slots of pages that were just closed are free again.
        const isWaiting = !isLost && triesLeft-- > 0
        if (isWaiting) again = setTimeout(open, AGAIN_MS)
        setState(isLost ? 'lost' : isWaiting ? 'waiting' : 'refused')
        if (isWaiting) return
        announce(isLost ? 'The connection to the log is lost.' : 'The log stopped.')
      }
    }
    open()
    return () => {
      source.close()
      for (const one of [timer, quiet, again]) clearTimeout(one)
    }
  }, [runId])
  return { lines, state }
}
