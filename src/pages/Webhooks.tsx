import { EVENT_TYPES, MAX_WEBHOOKS } from '../domain/webhook.ts'
import type { Webhook } from '../domain/wire.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { type Column, DataTable } from '../ui/DataTable.tsx'
import { Checkbox, Field } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage, refusedField } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'
import { CurrentPassword } from './account/CurrentPassword.tsx'
import { NewSecret } from './webhooks/NewSecret.tsx'
import { WebhookStatus } from './webhooks/WebhookStatus.tsx'

const COLUMNS: Column[] = [
  { key: 'url', label: 'URL', rowHeader: true },
  { key: 'events', label: 'Events' },
  { key: 'status', label: 'Status' },
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
  /** The new webhook's. Only this page ever shows it. */
  secret: string | null
  csrfToken: string
  flash: FlashMessage | null
}

export function Webhooks({ webhooks, secret, csrfToken, flash }: WebhooksProps) {
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
  const typed = (name: string) => refusedField(flash, name)
  const isChosen = (type: string) => !flash?.values || `events[${type}]` in flash.values
  return (
    <div className="page stack">
      <div className="page-head">
        <h1>Webhooks</h1>
      </div>
      {secret ? <NewSecret secret={secret}>Your webhook is ready.</NewSecret> : <FlashAlert flash={flash} />}
      <p>
        A webhook tells your own program what happens to your servers and bills, signed according to{' '}
        <a href="https://www.standardwebhooks.com">Standard Webhooks</a>.
      </p>
      <Card title="Your webhooks">
        {rows.length ? (
          <DataTable caption="Your webhooks" hideCaption columns={COLUMNS} rows={rows} />
        ) : (
          <p className="hint">No webhooks yet.</p>
        )}
      </Card>
      {webhooks.length < MAX_WEBHOOKS ? (
        <Card title="New webhook">
          <form className="stack form-narrow" method="post" action="/webhooks" noValidate>
            <HiddenFields csrfToken={csrfToken} />
            <Field {...typed('url')} type="url" label="URL" required hint="Use a public https:// address." />
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
            <CurrentPassword flash={flash} name="current_password" />
            <Button type="submit" look="primary">
              Add webhook
            </Button>
          </form>
        </Card>
      ) : (
        <p className="hint">You have {MAX_WEBHOOKS} webhooks, the most an account can have.</p>
      )}
      <p className="hint">
        <a href="/account_overview">Back to Account</a>
      </p>
    </div>
  )
}
