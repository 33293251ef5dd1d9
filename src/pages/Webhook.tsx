import { DELIVERY_DAYS } from '../domain/retention.ts'
import type { WebhookView } from '../domain/views.ts'
import { KEPT_DELIVERIES } from '../domain/webhook.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import type { FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'
import { CurrentPassword } from './account/CurrentPassword.tsx'
import { SettingsPage } from './settings/SettingsPage.tsx'
import { DeliveriesTable } from './webhooks/DeliveriesTable.tsx'
import { NewSecret } from './webhooks/NewSecret.tsx'
import { WebhookStatus } from './webhooks/WebhookStatus.tsx'

type WebhookPageProps = WebhookView & {
  /** The new secret. Only this page ever shows it. */
  secret: string | null
  csrfToken: string
  flash: FlashMessage | null
}

export function WebhookPage({ webhook, deliveries, oldSecretsEnd, secret, csrfToken, flash }: WebhookPageProps) {
  const action = `/webhooks/${webhook.id}`
  const isOff = webhook.status === 'off'
  return (
    <SettingsPage
      here="/settings/developers"
      title="Webhook"
      isPart
      flash={secret ? null : flash}
      aside={
        <div className="row">
          {isOff ? null : (
            <form method="post" action={`${action}/test`}>
              <HiddenFields csrfToken={csrfToken} />
              <Button type="submit">Send test event</Button>
            </form>
          )}
          <form method="post" action={action}>
            <HiddenFields csrfToken={csrfToken} method="delete" />
            <Button type="submit" look="danger">
              Delete webhook
            </Button>
          </form>
        </div>
      }
    >
      {secret ? <NewSecret secret={secret}>The new secret signs from now on.</NewSecret> : null}
      {isOff ? (
        <Alert kind="warning">
          <div className="row">
            <span>
              We switched this webhook off because{' '}
              {webhook.off_because === 'gone'
                ? 'it answered 410 (Gone).'
                : "it didn't accept an event for a whole day."}{' '}
              Until you turn it on again, we keep no events for it.
            </span>
            <form method="post" action={`${action}/on`}>
              <HiddenFields csrfToken={csrfToken} />
              <Button type="submit">Turn on</Button>
            </form>
          </div>
        </Alert>
      ) : null}
      <Card title="Endpoint" aside={<WebhookStatus status={webhook.status} />}>
        <div className="stack">
          <code className="secret">{webhook.url}</code>
          <p className="hint">Receives {webhook.events.join(', ')}.</p>
          <details className="fold" open={flash?.field === 'current_password'}>
            <summary>Replace the signing secret</summary>
            <form className="stack form-narrow" method="post" action={`${action}/secret`} noValidate>
              <HiddenFields csrfToken={csrfToken} />
              <p>For a day, we sign each message with both secrets. Give your program the new one within that time.</p>
              <CurrentPassword flash={flash} name="current_password" />
              <Button type="submit">Replace secret</Button>
            </form>
          </details>
          {oldSecretsEnd.map((at) => (
            <p className="hint" key={at}>
              A replaced secret keeps signing until <Time at={at} />.
            </p>
          ))}
        </div>
      </Card>
      <Card title="Deliveries">
        {deliveries.length ? (
          <DeliveriesTable {...{ action, deliveries, csrfToken }} canSend={!isOff} />
        ) : (
          <p className="hint">Nothing sent yet.{isOff ? '' : ' Send a test event to try it.'}</p>
        )}
      </Card>
      <p className="hint">
        We keep the last {KEPT_DELIVERIES} deliveries, for {DELIVERY_DAYS} days.
      </p>
    </SettingsPage>
  )
}
