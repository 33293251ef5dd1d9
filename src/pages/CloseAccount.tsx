import { CLOSED_DAYS } from '../domain/retention.ts'
import { Button } from '../ui/Button.tsx'
import type { FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { CurrentPassword } from './account/CurrentPassword.tsx'
import { SettingsPage } from './settings/SettingsPage.tsx'

type CloseAccountProps = { hasFiles: boolean; csrfToken: string; flash: FlashMessage | null }

export function CloseAccount({ hasFiles, csrfToken, flash }: CloseAccountProps) {
  return (
    <SettingsPage here="/account_overview" title="Close my account" isPart flash={flash}>
      <div className="card stack">
        <p>
          Closing your account stops your server, {hasFiles ? 'deletes your files, ' : ''}signs you out everywhere, and
          revokes your API tokens, for good. Your plan ends without a refund, and we email you a final invoice if you
          owe anything for usage so far. We don't charge your card anymore. We keep your billing records. You can use
          this email address for a new account after {CLOSED_DAYS} days.
        </p>
        <p>
          You may want to{' '}
          <a href="/api/v1/users/export" download>
            download your data
          </a>{' '}
          first
          {hasFiles ? (
            <>
              , and your <a href="/files">files</a>
            </>
          ) : null}
          .
        </p>
        <form className="stack form-narrow" method="post" action="/users" noValidate>
          <HiddenFields csrfToken={csrfToken} method="delete" />
          <CurrentPassword flash={flash} name="user[current_password]" />
          <Button type="submit" look="danger">
            Close my account
          </Button>
        </form>
      </div>
    </SettingsPage>
  )
}
