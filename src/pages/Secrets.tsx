import { MOST_SECRETS } from '../domain/run-wishes.ts'
import type { StoredSecret } from '../domain/wire.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { type Column, DataTable } from '../ui/DataTable.tsx'
import { Field, TextArea } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage, refusedField } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'
import { CurrentPassword } from './account/CurrentPassword.tsx'

const COLUMNS: Column[] = [
  { key: 'name', label: 'Name', rowHeader: true },
  { key: 'changed', label: 'Changed' },
  { key: 'action', label: 'Actions' },
]

type SecretsProps = { secrets: StoredSecret[]; csrfToken: string; flash: FlashMessage | null }

export function Secrets({ secrets, csrfToken, flash }: SecretsProps) {
  const rows = secrets.map(({ name, updated_at }) => ({
    id: name,
    cells: {
      name: <code className="address">{name}</code>,
      changed: <Time at={updated_at} />,
      action: (
        <form method="post" action={`/secrets/${name}`}>
          <HiddenFields csrfToken={csrfToken} method="delete" />
          <Button type="submit" small aria-label={`Remove ${name}`}>
            Remove
          </Button>
        </form>
      ),
    },
  }))
  const typed = (name: string) => refusedField(flash, name)
  return (
    <div className="page stack">
      <div className="page-head">
        <h1>Secrets</h1>
      </div>
      <FlashAlert flash={flash} />
      <p>
        A secret is a value for <a href="/environments">your own images</a>, such as a license key or a password. A
        start that names it gives it to the container as a variable: check it beside Start Server, or use{' '}
        <code>secrets</code> in the API and <code>--secret</code> in the command line. If one is gone before your
        program starts, the start fails and is free.
      </p>
      <p>
        Nobody can read a value here again. The server's log shows <code>***</code> for it, and for each of its lines,
        of 8 characters or more, but not for other spellings, such as base64.{' '}
        <a href="/docs/images#own">What your image gets</a>
      </p>
      <Card title="Your secrets">
        {rows.length ? (
          <DataTable caption="Your secrets" hideCaption columns={COLUMNS} rows={rows} />
        ) : (
          <p className="hint">No secrets yet.</p>
        )}
      </Card>
      <Card title="Add or replace a secret">
        <form className="stack form-narrow" method="post" action="/secrets" noValidate>
          <HiddenFields csrfToken={csrfToken} />
          <Field
            {...typed('name')}
            label="Name"
            required
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            hint={`Capital letters, digits, and underscores, such as LICENSE_KEY. ${
              secrets.length < MOST_SECRETS
                ? 'A name from your list gets the new value.'
                : `You have ${MOST_SECRETS} secrets, the most an account can have, so name one of them.`
            }`}
          />
          <TextArea
            {...typed('value')}
            label="Value"
            required
            rows={4}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            hint="At most 8,192 bytes. It may have several lines. Servers that run keep the value they started with."
          />
          <CurrentPassword flash={flash} name="current_password" />
          <Button type="submit" look="primary">
            Save secret
          </Button>
        </form>
      </Card>
      <p className="hint">
        <a href="/account_overview">Back to Account</a>
      </p>
    </div>
  )
}
