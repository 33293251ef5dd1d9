import { EVENT_TYPES, MAX_WEBHOOKS } from '../../domain/webhook.ts'
import type { Webhook } from '../../domain/wire/events.ts'
import type { Column } from '../../ui/DataTable.tsx'
import { Checkbox, Field } from '../../ui/Field.tsx'
import { type FlashMessage, refusedField } from '../../ui/FlashAlert.tsx'
import { Time } from '../../ui/Time.tsx'
import { CurrentPassword } from '../account/CurrentPassword.tsx'
import { WebhookStatus } from '../webhooks/WebhookStatus.tsx'
import { ListSection } from './ListSection.tsx'

const COLUMNS: Column[] = [
  { key: 'url', label: 'URL', rowHeader: true },
  { key: 'events', label: 'Events' },
  { key: 'status', label: 'Status', lead: true },
  { key: 'answered', label: 'Last delivered' },
]

const MEANING: Record<(typeof EVENT_TYPES)[number], string> = {
  'server.running': 'it answers, and its meter starts',
  'server.ending': 'we will stop it in a few minutes',
  'server.ending_soon': 'the earlier name of server.ending',
  'server.exited': 'its program ended, and the server with it',
  'server.stopped': 'you stopped it, or your trial, your budget, or its time ran out',
  'server.failed': 'we stopped it, it failed, or it never started',
  'budget.reached': "your month's budget is used up",
  'bill.closed': "a month's bill is final",
}

type WebhooksProps = {
  webhooks: Webhook[]
  csrfToken: string
  flash: FlashMessage | null
}

export function Webhooks({ webhooks, csrfToken, flash }: WebhooksProps) {
  const rows = webhooks.map((webhook) => ({
    id: webhook.id,
    cells: {
      url: (
        <a className="address" href={`/webhooks/${webhook.id}`}>
          {webhook.url}
        </a>
      ),
      events: webhook.events.length === EVENT_TYPES.length ? 'All' : webhook.events.join(', '),
      status: <WebhookStatus status={webhook.status} />,
      answered: webhook.answered_at ? <Time at={webhook.answered_at} /> : 'Never',
    },
  }))
  const isChosen = (type: string) => !flash || flash.kind === 'success' || `events[${type}]` in (flash.values ?? {})
  const form = {
    title: 'New webhook',
    action: '/webhooks',
    fields: (
      <>
        <Field {...refusedField(flash, 'url')} type="url" label="URL" required hint="Use a public https:// address." />
        <fieldset className="stack">
          <legend>Events</legend>
          {EVENT_TYPES.map((type) => (
            <Checkbox
              key={type}
              name={`events[${type}]`}
              defaultChecked={isChosen(type)}
              label={
                <>
                  <span className="mono address">{type}</span>: {MEANING[type]}
                </>
              }
            />
          ))}
        </fieldset>
        <CurrentPassword flash={flash} name="current_password" of="webhook_" />
      </>
    ),
    submit: 'Add webhook',
  }
  return (
    <ListSection
      title="Webhooks"
      id="webhooks"
      csrfToken={csrfToken}
      flash={flash}
      list={{ caption: 'Your webhooks', columns: COLUMNS, rows, none: 'No webhooks yet.' }}
      form={webhooks.length < MAX_WEBHOOKS ? form : `You have ${MAX_WEBHOOKS} webhooks, the most an account can have.`}
    >
      <p>
        A webhook tells your own program what happens to your servers and bills, signed according to{' '}
        <a href="https://www.standardwebhooks.com">Standard Webhooks</a>.
      </p>
    </ListSection>
  )
}
