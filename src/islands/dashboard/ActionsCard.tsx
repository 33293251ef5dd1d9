import type { ReactNode } from 'react'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { instead, START } from './ByForm.tsx'
import { START_ID, SteadyButton } from './SteadyButton.tsx'

type ActionsCardProps = {
  /** Takes less room, to let a live server come first. */
  small?: boolean
  canStart: boolean
  onStart: () => void
  /** What a start costs, or why you can't start now. */
  hint: string
  /** What would start, and on which machine. */
  world?: ReactNode
  machine?: ReactNode
  /** What to do about it. */
  children?: ReactNode
}

export function ActionsCard({ small = false, canStart, onStart, hint, world, machine, children }: ActionsCardProps) {
  return (
    <Card title="Actions">
      <div className={small ? 'row' : 'actions'}>
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
        {world}
        <Button small={small} disabled>
          Request More Servers
        </Button>
        <ButtonLink small={small} href="/account_overview">
          Manage Subscription
        </ButtonLink>
        <ButtonLink small={small} href="/billing_history">
          Billing History
        </ButtonLink>
      </div>
      <p className="hint">
        <span id="start-hint">{hint}</span> {children}
      </p>
      {machine}
    </Card>
  )
}
