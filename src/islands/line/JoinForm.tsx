import type { FormEvent } from 'react'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { WhenItsTime } from './WhenItsTime.tsx'

export type JoinChoice = { start: boolean; maxGpus: number }

type Props = {
  sizes: { gpus: number; waiting: number; free: boolean }[]
  /** Whether `waiting` is still right. */
  isCounted: boolean
  /** Trial minutes should run while they are here. */
  isTrial: boolean
  csrfToken: string
  chosen: Record<string, string>
  onJoin: (choice: JoinChoice) => void
}

const machine = (gpus: number) => `${gpus} × L4`
const people = (count: number) =>
  count === 1 ? '1 person is waiting' : count ? `${count} people are waiting` : 'No one is waiting'

/** What to wait for, and what we do when it's their turn. */
export function JoinForm({ sizes, isCounted, isTrial, csrfToken, chosen, onJoin }: Props) {
  const waitable = sizes.filter(({ free }) => !free)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    onJoin({ start: form.get('start') === 'true', maxGpus: Number(form.get('max_gpus')) })
  }
  if (!waitable.length)
    return (
      <Card title="A server is free">
        <div className="stack">
          <p>You can start one now.</p>
          <div className="row">
            <ButtonLink look="primary" href="/dashboard">
              Start a server
            </ButtonLink>
          </div>
        </div>
      </Card>
    )
  return (
    <Card title="Join the line">
      <form className="stack" method="post" action="/api/v1/line" onSubmit={submit}>
        <HiddenFields csrfToken={csrfToken} values={chosen} />
        <p>All servers are reserved right now. The next free one goes to the next in line.</p>
        <fieldset className="line-choice">
          <legend>Machine</legend>
          {waitable.map(({ gpus, waiting }, i) => (
            <label key={gpus} className="check">
              <input type="radio" name="max_gpus" value={gpus} defaultChecked={i === 0} />
              <span>
                {machine(gpus)} {isCounted ? <span className="hint">{people(waiting)}</span> : null}
              </span>
            </label>
          ))}
        </fieldset>
        <WhenItsTime start={!isTrial} />
        <div className="row">
          <Button type="submit" look="primary">
            Wait in line
          </Button>
          <a href="/dashboard">Back to the dashboard</a>
        </div>
        <p className="hint">
          Waiting is free, and you can leave at any time. You keep your place if you close this page.
        </p>
      </form>
    </Card>
  )
}
