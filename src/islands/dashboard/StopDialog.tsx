import { useEffect, useRef } from 'react'
import { keepText } from '../../domain/ending.ts'
import { runCost } from '../../domain/money/live-usage.ts'
import { costText, UNITS_PER_DOLLAR } from '../../domain/money/money.ts'
import { formatUptime } from '../../domain/server.ts'
import type { Summary } from '../../domain/wire/billing.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import { Button } from '../../ui/Button.tsx'

/** `summary` as of `now`: see `usageAt`. */
type Run = { server: Server; summary: Summary; now: number }
/** `filesStay`: see `keepText`. */
type Asked = Run & { filesStay: boolean }

export const STOP_QUESTION = 'Stop this server?'
export const erasedText = (filesStay: boolean) =>
  filesStay
    ? 'Everything outside /data is deleted. Files in /data stay.'
    : `Stopping erases its disk. ${keepText(filesStay)}`

type Asking = Asked & {
  /** What had the focus when they pressed Stop: it may have moved while this file was loading. */
  asker: HTMLElement | null
  onAnswer: (stop: boolean) => void
}

/** Asks before a stop. A button closes the dialog, which returns the focus; then `onAnswer` gets the answer. */
export function StopDialog({ asker, onAnswer, ...asked }: Asking) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    // The browser returns the focus to the element that has it now.
    asker?.focus()
    ref.current?.showModal()
  }, [])
  return (
    <dialog
      ref={ref}
      className="card ask"
      aria-labelledby="ask-title"
      aria-describedby="ask-words"
      onClose={(event) => onAnswer(event.currentTarget.returnValue === 'stop')}
    >
      <StopDialogAs {...asked} />
    </dialog>
  )
}

export function StopDialogAs(asked: Asked) {
  return (
    <>
      <h2 id="ask-title">{STOP_QUESTION}</h2>
      <div id="ask-words">
        <p>{ranSoFar(asked)}</p>
        <p>{erasedText(asked.filesStay)}</p>
      </div>
      <form method="dialog" className="row">
        <Button type="submit">Keep running</Button>
        <Button type="submit" value="stop" look="danger">
          Stop server
        </Button>
      </form>
    </>
  )
}

/** How long it has run, and what that costs. */
export function ranSoFar({ server, summary, now }: Run): string {
  if (!server.billed_from) return "It isn't billed yet."
  const { seconds, units, free, since } = runCost(server, summary, now)
  const time = `It has run for ${formatUptime(seconds)}`
  if (free === 'trial') return `${time} of your free trial.`
  return free ? `${time}, covered by your plan.` : `${time}: ${costText(units / UNITS_PER_DOLLAR)} ${since}.`
}
