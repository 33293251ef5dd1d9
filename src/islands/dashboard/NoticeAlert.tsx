import { useEffect, useRef, useState } from 'react'
import type { Estimate } from '../../domain/estimate.ts'
import { formatUptime } from '../../domain/server.ts'
import { isFinished, type Notice, STILL_STARTING, TAKING_LONGER } from '../../domain/server-list.ts'
import type { Job } from '../../domain/wire/fleet.ts'
import { Alert } from '../../ui/Alert.tsx'
import { usePart } from '../usePart.ts'

const noCapacity = () => import('./NoCapacity.tsx').then((file) => file.NoCapacity)

const HIDE_AFTER_MS = 10_000
const PROMISED_S = 30

type Props = {
  notice: Notice | null
  job: Job | null
  now: number
  /** How long a start like this one takes; undefined: we don't know yet. */
  usual: Estimate | undefined
  onDismiss: () => void
  /** Retries the start; null while a start is not possible. */
  onStart: (() => void) | null
  /** Whether they can wait in line instead. */
  mayWait: boolean
}

/**
 * The one message above the table. A success hides after 10 s unless the pointer or the focus is on it.
 * The section is one live region, present from the start, so screen readers say each change once, but not the seconds.
 */
export function NoticeAlert({ notice, job, now, usual, onDismiss, onStart, mayWait }: Props) {
  const [held, setHeld] = useState(false)
  const hides = notice?.kind === 'success' && !held
  useEffect(() => {
    if (!hides) return
    const timer = setTimeout(onDismiss, HIDE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [notice, hides])
  const place = useRef<HTMLElement>(null)
  const refused = notice?.kind === 'danger'
  // On a phone, what was clicked may be a screen away.
  useEffect(() => {
    if (refused) place.current?.scrollIntoView({ block: 'nearest' })
  }, [notice, refused])
  const seconds = Math.max(0, Math.floor((now - Date.parse(job?.created_at ?? '')) / 1000))
  const full = notice?.code === 'no_capacity'
  const NoCapacity = usePart(noCapacity, full)
  const follows = notice?.kind === 'info' && job && notice.job === job.id && !isFinished(job)
  const starts = follows && job.kind === 'server_start'
  const later = usual && seconds > usual.p90 ? TAKING_LONGER : STILL_STARTING
  return (
    <section
      ref={place}
      className="notices"
      aria-label="Messages"
      aria-live="polite"
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      {notice ? (
        <Alert key={`${notice.kind} ${notice.text}`} kind={notice.kind} onDismiss={onDismiss} quiet>
          {starts && seconds > PROMISED_S ? later : notice.text}
          {follows ? (
            <span className="progress">
              {job.progress && job.progress !== notice.text ? <Progress text={job.progress} /> : null}
              {Number.isNaN(seconds) ? null : (
                <span className="mono" aria-live="off">
                  {formatUptime(seconds)}
                  {starts && usual ? `, usually ${formatUptime(usual.p50)}` : null}
                </span>
              )}
            </span>
          ) : null}
          {full && NoCapacity ? <NoCapacity onStart={onStart} mayWait={mayWait} /> : null}
        </Alert>
      ) : null}
    </section>
  )
}

/** Screen readers announce what is happening, not each percent of it. */
function Progress({ text }: { text: string }) {
  const what = text.replace(/, \d+%.*/, '…')
  if (what === text) return <span>{text}</span>
  return (
    <>
      <span className="visually-hidden">{what}</span>
      <span aria-live="off">{text}</span>
    </>
  )
}
