import type { ApiToken, RegistryLogin, StoredSecret } from '../../domain/wire/accounts.ts'
import type { Webhook } from '../../domain/wire/events.ts'
import { Alert } from '../../ui/Alert.tsx'
import { Card } from '../../ui/Card.tsx'
import type { FlashMessage } from '../../ui/FlashAlert.tsx'
import { Secret } from '../../ui/Secret.tsx'
import { NewSecret } from '../webhooks/NewSecret.tsx'
import { ApiTokens } from './ApiTokens.tsx'
import { Registries } from './Registries.tsx'
import { Secrets } from './Secrets.tsx'
import { flashAbout, SettingsPage } from './SettingsPage.tsx'
import { Webhooks } from './Webhooks.tsx'

/** What was just created: only this page ever shows it. */
export type Made = { token: string; name: string } | { webhookSecret: string }

type DevelopersProps = {
  tokens: ApiToken[]
  webhooks: Webhook[]
  secrets: StoredSecret[]
  registries: RegistryLogin[]
  made: Made | null
  csrfToken: string
  flash: FlashMessage | null
}

export function Developers({ tokens, webhooks, secrets, registries, made, csrfToken, flash }: DevelopersProps) {
  const about = (id: string) => ({ csrfToken, flash: flashAbout(flash, id) })
  return (
    <SettingsPage here="/settings/developers" title="Developers" flash={flash?.values?.about ? null : flash}>
      {made && 'token' in made ? (
        <Alert kind="success" takesFocus>
          Your new token “<bdi>{made.name}</bdi>” is ready. Copy it now: we won't show it again.
          <Secret>{made.token}</Secret>
        </Alert>
      ) : null}
      {made && 'webhookSecret' in made ? (
        <NewSecret secret={made.webhookSecret}>Your webhook is ready.</NewSecret>
      ) : null}
      <ApiTokens tokens={tokens} {...about('api_tokens')} />
      <Webhooks webhooks={webhooks} {...about('webhooks')} />
      <Secrets secrets={secrets} {...about('secrets')} />
      <Registries registries={registries} {...about('registries')} />
      <Card title="Command line" id="command_line" className="stack">
        <p>
          Start, follow, and stop your servers from a terminal or a script.{' '}
          <a href="/docs/cli">Install the command line</a>, and sign in:
        </p>
        <p>
          <code className="address">proving-ground login</code>
        </p>
        <p className="hint">
          It shows a code. <a href="/activate">Enter the code</a>
        </p>
      </Card>
    </SettingsPage>
  )
}
