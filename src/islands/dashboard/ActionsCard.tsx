import { Button, ButtonLink } from '../../pages/parts/Button.tsx'
import { Card } from '../../pages/parts/Card.tsx'
import { Icon } from '../../pages/parts/Icon.tsx'

type ActionsCardProps = { canStart: boolean; onStart: () => void; cost: string }

export function ActionsCard({ canStart, onStart, cost }: ActionsCardProps) {
  return (
    <Card title="Actions">
      <p className="hint" id="start-cost">
        {cost}
      </p>
      <div className="actions">
        <Button look="primary" disabled={!canStart} aria-describedby="start-cost" onClick={onStart}>
          <Icon name="play" /> Start Server
        </Button>
        <Button disabled>Request More Servers</Button>
        <ButtonLink href="/account_overview">Manage Subscription</ButtonLink>
        <ButtonLink href="/billing_history">Billing History</ButtonLink>
      </div>
    </Card>
  )
}
