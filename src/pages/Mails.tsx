import { Fragment } from 'react'
import { MAIL_KINDS, type MailKind } from '../domain/notice.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Field.tsx'
import type { FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { SettingsPage } from './settings/SettingsPage.tsx'

type MailsProps = { hasFiles: boolean; mails: Record<MailKind, boolean>; csrfToken: string; flash: FlashMessage | null }

/** Which emails someone wants. */
export function Mails({ hasFiles, mails, csrfToken, flash }: MailsProps) {
  return (
    <SettingsPage here="/account_overview" title="Emails" isPart flash={flash}>
      <div className="card stack">
        <p>
          Choose what we email you. Everything also appears under <a href="/notices">Notices</a>.
        </p>
        <form className="stack" method="post" action="/api/v1/mails">
          <HiddenFields csrfToken={csrfToken} />
          <fieldset className="stack">
            <legend className="visually-hidden">Email me</legend>
            {Object.entries(MAIL_KINDS)
              .filter(([kind]) => hasFiles || kind !== 'files')
              .map(([kind, label]) => (
                <Fragment key={kind}>
                  {/* Browsers don't send a box that isn't checked, and what isn't sent stays as it is. */}
                  <input type="hidden" name={kind} value="0" />
                  <Checkbox id={`mail-${kind}`} name={kind} label={label} defaultChecked={mails[kind as MailKind]} />
                </Fragment>
              ))}
          </fieldset>
          <p className="hint">We always email you about security and about money you owe.</p>
          <Button type="submit" look="primary">
            Save
          </Button>
        </form>
      </div>
    </SettingsPage>
  )
}
