import { DEFAULT_TOKEN_DAYS, MAX_TOKEN_DAYS } from '../../domain/api-token.ts'
import type { ApiToken } from '../../domain/wire/accounts.ts'
import type { Column } from '../../ui/DataTable.tsx'
import { Field, Select } from '../../ui/Field.tsx'
import { type FlashMessage, refusedField } from '../../ui/FlashAlert.tsx'
import { Time } from '../../ui/Time.tsx'
import { CurrentPassword } from '../account/CurrentPassword.tsx'
import { ListSection, Remove } from './ListSection.tsx'

const COLUMNS: Column[] = [
  { key: 'name', label: 'Name', rowHeader: true },
  { key: 'scope', label: 'Access' },
  { key: 'end', label: 'Expires' },
  { key: 'used', label: 'Last used' },
  { key: 'address', label: 'From' },
  { key: 'action', label: 'Actions', lead: true },
]

const SCOPES = [
  { value: 'read', label: 'Read: servers, usage, bills' },
  { value: 'operate', label: 'Operate: read, start, and stop' },
]
const DAYS = [30, DEFAULT_TOKEN_DAYS, 180, MAX_TOKEN_DAYS].map((days) => ({
  value: String(days),
  label: days === MAX_TOKEN_DAYS ? '1 year' : `${days} days`,
}))

const ID = 'api_tokens'

type ApiTokensProps = { tokens: ApiToken[]; csrfToken: string; flash: FlashMessage | null }

export function ApiTokens({ tokens, csrfToken, flash }: ApiTokensProps) {
  const rows = tokens.map((token) => ({
    id: token.id,
    cells: {
      name: <bdi>{token.name}</bdi>,
      scope: token.scope === 'read' ? 'Read' : 'Operate',
      end: <Time at={token.expires_at} layout="day" />,
      used: token.last_used_at ? <Time at={token.last_used_at} /> : 'Never',
      address: token.last_address ? <span className="mono address">{token.last_address}</span> : '–',
      action: (
        <Remove name={token.name} action={`/api_tokens/${token.id}`} about={ID} csrfToken={csrfToken}>
          Revoke
        </Remove>
      ),
    },
  }))
  const typed = (name: string) => ({ ...refusedField(flash, name), id: `token_${name}` })
  return (
    <ListSection
      title="API tokens"
      id={ID}
      csrfToken={csrfToken}
      flash={flash}
      list={{ caption: 'Your API tokens', columns: COLUMNS, rows, none: 'No tokens yet.' }}
      form={{
        title: 'New token',
        action: '/api_tokens',
        fields: (
          <>
            <Field
              {...typed('name')}
              label="Name"
              dir="auto"
              required
              hint="Where you'll use it, such as “GitHub Actions”."
            />
            <Select {...typed('scope')} label="Access" options={SCOPES} />
            <Select
              {...typed('days')}
              defaultValue={typed('days').defaultValue ?? String(DEFAULT_TOKEN_DAYS)}
              label="Expires after"
              options={DAYS}
            />
            <CurrentPassword flash={flash} name="current_password" of="token_" />
          </>
        ),
        submit: 'Create token',
      }}
    >
      <p>
        A token lets a program use your account without your password: your CI, a script, a command line. It can't
        change your account, your plan, or your password. Keep it like a password. A new password revokes every token.
      </p>
    </ListSection>
  )
}
