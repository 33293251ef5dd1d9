import { MOST_SECRETS } from '../../domain/run-wishes.ts'
import type { StoredSecret } from '../../domain/wire/accounts.ts'
import type { Column } from '../../ui/DataTable.tsx'
import { Field, TextArea } from '../../ui/Field.tsx'
import { type FlashMessage, refusedField } from '../../ui/FlashAlert.tsx'
import { Time } from '../../ui/Time.tsx'
import { CurrentPassword } from '../account/CurrentPassword.tsx'
import { ListSection, Remove } from './ListSection.tsx'

const COLUMNS: Column[] = [
  { key: 'name', label: 'Name', rowHeader: true },
  { key: 'changed', label: 'Changed' },
  { key: 'action', label: 'Actions', lead: true },
]

const ID = 'secrets'

type SecretsProps = { secrets: StoredSecret[]; csrfToken: string; flash: FlashMessage | null }

export function Secrets({ secrets, csrfToken, flash }: SecretsProps) {
  const rows = secrets.map(({ name, updated_at }) => ({
    id: name,
    cells: {
      name: <code className="address">{name}</code>,
      changed: <Time at={updated_at} />,
      action: <Remove name={name} action={`/secrets/${name}`} about={ID} csrfToken={csrfToken} />,
    },
  }))
  const typed = (name: string) => ({ ...refusedField(flash, name), id: `secret_${name}` })
  return (
    <ListSection
      title="Secrets"
      id={ID}
      csrfToken={csrfToken}
      flash={flash}
      list={{ caption: 'Your secrets', columns: COLUMNS, rows, none: 'No secrets yet.' }}
      form={{
        title: 'Add or replace a secret',
        action: '/secrets',
        fields: (
          <>
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
              hint="At most 8,192 bytes. It can have several lines. Running servers keep the value they started with."
            />
            <CurrentPassword flash={flash} name="current_password" of="secret_" />
          </>
        ),
        submit: 'Save secret',
      }}
      help={
        <p className="hint">
          You can't view a value here again. The server's log shows <code>***</code> instead of it and of each of its
          lines, if they have 8 or more characters, but doesn't recognize parts of a line or other encodings, such as
          base64. <a href="/docs/images#own">What your image gets</a>
        </p>
      }
    >
      <p>
        A secret is a value for <a href="/settings/servers#environments">your own images</a>, such as a license key or a
        password. A start that names it gives it to the container as a variable: check it beside Start Server, or use{' '}
        <code>secrets</code> in the API and <code>--secret</code> in the command line. If one is gone before your
        program starts, the start fails and is free.
      </p>
    </ListSection>
  )
}
