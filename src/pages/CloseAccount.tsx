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
        <p>You can't undo this. When you close your account:</p>
        <ul>
          <li>Your running server stops.</li>
          {hasFiles ? <li>We delete your files.</li> : null}
          <li>You're signed out everywhere, and your API tokens stop working.</li>
          <li>Your plan ends now, without a refund. If you owe anything for usage so far, we email you an invoice.</li>
          <li>We don't charge your card anymore, and keep your billing records.</li>
          <li>After {CLOSED_DAYS} days, you can use this email address for a new account.</li>
        </ul>
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
