import { Button, ButtonLink } from '../../pages/parts/Button.tsx'
import { Card } from '../../pages/parts/Card.tsx'
import { Icon } from '../../pages/parts/Icon.tsx'

export function ActionsCard({ canStart, onStart }: { canStart: boolean; onStart: () => void }) {
  return (
    <Card title="Actions">
      <div className="actions">
        <Button look="primary" disabled={!canStart} onClick={onStart}>
          <Icon name="play" /> Start Server
        </Button>
        <Button disabled>Request More Servers</Button>
        <ButtonLink href="/account_overview">Manage Subscription</ButtonLink>
        <ButtonLink href="/billing_history">Billing History</ButtonLink>
      </div>
    </Card>
  )
}
