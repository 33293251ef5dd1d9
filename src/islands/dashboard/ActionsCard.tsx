import type { ReactNode } from 'react'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { instead, START } from './ByForm.tsx'
import { START_ID, SteadyButton } from './SteadyButton.tsx'

type ActionsCardProps = {
  /** Start takes less space, so that a live server comes first. */
  small?: boolean
  canStart: boolean
  onStart: () => void
  /** What a start costs, or why you can't start now. */
  hint: string
  /** What would start, on which machine, and how; null while nothing can. */
  choices?: ReactNode
  /** What they can do about it. */
  children?: ReactNode
}

export function ActionsCard({ small = false, canStart, onStart, hint, choices, children }: ActionsCardProps) {
  return (
    <Card title="Actions" className="actions">
      {choices}
      <div className="row start">
        <SteadyButton
          {...START}
          id={START_ID}
          small={small}
          look="primary"
          disabled={!canStart}
          aria-describedby="start-hint"
          onClick={instead(onStart)}
        >
          <Icon name="play" /> Start Server
        </SteadyButton>
        <p className="hint">
          <span id="start-hint">{hint}</span> {children}
        </p>
      </div>
      <div className="row">
        <Button small disabled>
          Request More Servers
        </Button>
        <ButtonLink small href="/account_overview">
          Manage Subscription
        </ButtonLink>
        <ButtonLink small href="/billing_history">
          Billing History
        </ButtonLink>
      </div>
    </Card>
  )
}
