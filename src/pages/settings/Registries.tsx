import { MOST_LOGINS } from '../../domain/registry-login.ts'
import type { RegistryLogin } from '../../domain/wire/accounts.ts'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Field } from '../../ui/Field.tsx'
import { type FlashMessage, refusedField } from '../../ui/FlashAlert.tsx'
import { Time } from '../../ui/Time.tsx'
import { CurrentPassword } from '../account/CurrentPassword.tsx'
import { ListSection, Remove } from './ListSection.tsx'

const COLUMNS: Column[] = [
  { key: 'host', label: 'Registry', rowHeader: true },
  { key: 'username', label: 'Username' },
  { key: 'changed', label: 'Changed' },
  { key: 'action', label: 'Actions', lead: true },
]

const TOKENS: [registry: string, username: string, token: string][] = [
  ['ghcr.io', 'Your GitHub name', 'A personal access token (classic) with read:packages'],
  ['docker.io', 'Your Docker ID', 'A personal access token with read access'],
  ['registry.gitlab.com', "A deploy token's username", 'That deploy token, with read_registry'],
  ['us-docker.pkg.dev', '_json_key', "A service account's key: its whole JSON file"],
]

const ID = 'registries'

type RegistriesProps = { registries: RegistryLogin[]; csrfToken: string; flash: FlashMessage | null }

export function Registries({ registries, csrfToken, flash }: RegistriesProps) {
  const rows = registries.map(({ host, username, updated_at }) => ({
    id: host,
    cells: {
      host: <code className="address">{host}</code>,
      username: <bdi className="mono address">{username}</bdi>,
      changed: <Time at={updated_at} />,
      action: <Remove name={host} action={`/registries/${host}`} about={ID} csrfToken={csrfToken} />,
    },
  }))
  const typed = (name: string) => ({
    ...refusedField(flash, name),
    id: `login_${name}`,
    required: true,
    autoComplete: 'off',
    autoCapitalize: 'none',
    spellCheck: false,
  })
  return (
    <ListSection
      title="Registry logins"
      id={ID}
      csrfToken={csrfToken}
      flash={flash}
      list={{ caption: 'Your registry logins', columns: COLUMNS, rows, none: 'No registry logins yet.' }}
      form={{
        title: 'Add or replace a login',
        action: '/registries',
        fields: (
          <>
            <Field
              {...typed('host')}
              label="Registry"
              hint={`Its host, such as ghcr.io, docker.io for Docker Hub, or registry.gitlab.com. ${
                registries.length < MOST_LOGINS
                  ? 'A host from your list gets the new login.'
                  : `You have ${MOST_LOGINS} logins, the most an account can have, so name one of them.`
              }`}
            />
            <Field {...typed('username')} label="Username" />
            <Field
              {...typed('token')}
              label="Password or token"
              hint="Use a long-lived token that can only read images."
            />
            <CurrentPassword flash={flash} name="current_password" of="login_" />
          </>
        ),
        submit: 'Save login',
      }}
      help={
        <>
          <DataTable
            caption="Which login each registry takes"
            hideCaption
            columns={[
              { key: 'registry', label: 'Registry', rowHeader: true },
              { key: 'username', label: 'Username' },
              { key: 'token', label: 'Password or token' },
            ]}
            rows={TOKENS.map(([registry, username, token]) => ({
              id: registry,
              cells: { registry: <code className="address">{registry}</code>, username, token },
            }))}
          />
          <p className="hint">
            Any other registry takes what <code>docker login</code> takes, if it uses HTTPS on the public Internet.
            Amazon ECR's logins expire after 12 hours, so we can't save one. Have your CI copy the image to another
            registry: <code>docker buildx imagetools create --tag ghcr.io/you/sim:1 YOUR_ECR_IMAGE</code>.
          </p>
        </>
      }
    >
      <p>
        With a login, your servers pull <a href="/settings/servers#environments">your own images</a> from a private
        registry. Only the machine that pulls the image gets the login, and deletes it before your program starts. You
        can’t view the token here again. <a href="/docs/images#own">What your image gets</a>
      </p>
    </ListSection>
  )
}
