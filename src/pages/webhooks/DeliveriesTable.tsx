import type { Delivery } from '../../domain/wire/events.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Time } from '../../ui/Time.tsx'

const COLUMNS: Column[] = [
  { key: 'event', label: 'Event', rowHeader: true },
  { key: 'created', label: 'Happened' },
  { key: 'state', label: 'Status' },
  { key: 'answer', label: 'Answer' },
  { key: 'attempts', label: 'Tries', numeric: true },
  { key: 'action', label: 'Actions', lead: true },
]

type DeliveriesProps = { action: string; deliveries: Delivery[]; canSend: boolean; csrfToken: string }

export function DeliveriesTable({ action, deliveries, canSend, csrfToken }: DeliveriesProps) {
  const rows = deliveries.map((delivery) => ({
    id: delivery.event_id,
    cells: {
      event: (
        <details>
          <summary className="mono">{delivery.type}</summary>
          <code className="secret">{delivery.event_id}</code>
          <code className="secret">{delivery.payload}</code>
        </details>
      ),
      created: <Time at={delivery.created_at} />,
      state: <State delivery={delivery} />,
      answer: <Answer {...delivery} />,
      attempts: delivery.attempts,
      action: canSend ? (
        <form method="post" action={`${action}/deliveries/${delivery.event_id}`}>
          <HiddenFields csrfToken={csrfToken} />
          <Button type="submit" small aria-label={`Send again: ${delivery.type}`}>
            Send again
          </Button>
        </form>
      ) : (
        '—'
      ),
    },
  }))
  return <DataTable caption="Deliveries, newest first" hideCaption columns={COLUMNS} rows={rows} />
}

function State({ delivery }: { delivery: Delivery }) {
  if (delivery.taken) return <Badge color="green">Delivered</Badge>
  if (delivery.next_try_at === null) return <Badge color="red">Given up</Badge>
  return (
    <div>
      <Badge color="yellow">{delivery.answer === null ? 'Sending' : 'Failing'}</Badge>
      {delivery.answer === null ? null : (
        <div className="hint">
          Next try <Time at={delivery.next_try_at} layout="clock" />
        </div>
      )}
    </div>
  )
}

function Answer({ status, answer }: Pick<Delivery, 'status' | 'answer'>) {
  if (status === null) return answer ?? '—'
  if (!answer) return status
  return (
    <details>
      <summary>{status}</summary>
      <code className="secret">{answer}</code>
    </details>
  )
}
