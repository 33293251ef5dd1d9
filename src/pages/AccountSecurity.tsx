import type { ReactNode } from 'react'
import { MAX_PASSKEY_NAME, RECOVERY_CODES } from '../domain/factor.ts'
import type { Passkey } from '../domain/wire/accounts.ts'
import { Alert } from '../ui/Alert.tsx'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage, refusedField } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Secret } from '../ui/Secret.tsx'
import { Time } from '../ui/Time.tsx'
import { CurrentPassword } from './account/CurrentPassword.tsx'
import { QrCode } from './account/QrCode.tsx'
import { HasFactor, HasPasskey } from './account/Username.tsx'
import { SettingsPage } from './settings/SettingsPage.tsx'

type Started = { secret: string; uri: string; qr: boolean[][] }
export type SecurityProps = {
  totp: { added_at: string; last_used_at: string | null } | null
  recovery_codes: { left: number; made_at: string | null }
  passkeys: Passkey[]
  /** How many API tokens the account has: those work without a factor. */
  tokens: number
  /** A suggested name for a passkey of this browser. */
  device: string
  /** For an admin who has none: the emailed link that lets them add one, empty before they open it. Null: no link needed. */
  link: string | null
  /** When an operator removes the factor as lost; null: no removal is planned. */
  removal_at: string | null
  /** An app that is waiting for its first code. */
  started: Started | null
  /** New recovery codes: only this page ever shows them. */
  codes: { codes: string[]; message: string } | null
  csrfToken: string
  flash: FlashMessage | null
}

/** The second factors of an account. */
export function AccountSecurity({
  totp,
  recovery_codes,
  tokens,
  link,
  removal_at,
  started,
  codes,
  csrfToken,
  flash,
  ...own
}: SecurityProps) {
  const form = { csrfToken, flash }
  const hasFactor = totp !== null || own.passkeys.length > 0
  const page = (
    <SettingsPage here="/account_overview" title="Two-factor sign-in" aside={<OnOff on={hasFactor} />} isPart>
      {codes ? (
        <Alert kind="success" takesFocus>
          {codes.message} Save these recovery codes now: we won't show them again. Each signs you in once if you lose
          your passkey or your phone.
          <Secret>{codes.codes.join('\n')}</Secret>
        </Alert>
      ) : (
        <FlashAlert flash={flash} />
      )}
      {removal_at ? (
        <Alert kind="warning" quiet>
          <form className="stack" method="post" action="/account_security/keep">
            <HiddenFields csrfToken={csrfToken} />
            <p>
              Someone told us that your second factor is lost. We’ll remove it and your recovery codes on{' '}
              <Time at={removal_at} />. Do you still have it?
            </p>
            <Button type="submit" look="primary">
              Keep it
            </Button>
          </form>
        </Alert>
      ) : null}
      <p>
        With a second factor, someone who learns your password still can't get in. You then use your passkey or enter a
        code when you sign in, choose a new password, create API tokens, or change secrets and webhooks. Programs with
        an API token are never asked.{' '}
        {tokens ? (
          <>
            You have {tokens === 1 ? '1 API token' : `${tokens} API tokens`}:{' '}
            <a href="/settings/developers">check that {tokens === 1 ? 'it is' : 'each is'} yours</a>.
          </>
        ) : null}
      </p>
      {started ? (
        <NewApp {...form} started={started} />
      ) : link === '' ? (
        <MailLink csrfToken={csrfToken} />
      ) : (
        <>
          {totp ? <App {...form} totp={totp} isLast={!own.passkeys.length} /> : null}
          <Passkeys {...form} {...own} link={link} isLast={totp === null && own.passkeys.length === 1} />
          {totp ? null : <NoApp {...form} link={link} />}
        </>
      )}
      {hasFactor ? <Codes {...form} left={recovery_codes.left} /> : null}
    </SettingsPage>
  )
  // Right after adding one, the sign-in of this request still has none.
  return (
    <HasFactor value={hasFactor}>
      <HasPasskey value={own.passkeys.length > 0}>{page}</HasPasskey>
    </HasFactor>
  )
}

const OnOff = ({ on }: { on: boolean }) => <Badge color={on ? 'green' : 'gray'}>{on ? 'On' : 'Off'}</Badge>

type FormProps = { csrfToken: string; flash: FlashMessage | null }

/** For admins: their password alone adds none. */
function MailLink({ csrfToken }: { csrfToken: string }) {
  return (
    <Card title="Your first factor">
      <form className="stack form-narrow" method="post" action="/account_security/link">
        <HiddenFields csrfToken={csrfToken} />
        <p>
          As an admin, you need a passkey or an authenticator app to open the console. You add it with your password and
          a link we email you. The link works once, within 10 minutes.
        </p>
        <Button type="submit" look="primary">
          Email me the link
        </Button>
      </form>
    </Card>
  )
}

type FoldedProps = { label: string; summary?: ReactNode; open: boolean; action: string; children: ReactNode }

function FoldedForm({ label, summary = label, open, children, ...form }: FoldedProps) {
  return (
    <details className="fold" open={open}>
      <summary>{summary}</summary>
      <form className="stack form-narrow" method="post" noValidate aria-label={label} {...form}>
        {children}
      </form>
    </details>
  )
}

type PasskeysProps = FormProps & Pick<SecurityProps, 'passkeys' | 'device' | 'link'> & { isLast: boolean }

function Passkeys({ passkeys, device, link, isLast, csrfToken, flash }: PasskeysProps) {
  return (
    <Card title="Passkeys" className="stack">
      <p>
        Sign in with your fingerprint, your face, a PIN, or a security key. A passkey needs no password and no code.
      </p>
      {passkeys.length ? (
        <ul className="plain-list">
          {passkeys.map((passkey) => (
            <li key={passkey.id}>
              <OwnPasskey {...passkey} isLast={isLast} csrfToken={csrfToken} flash={flash} />
            </li>
          ))}
        </ul>
      ) : null}
      <FoldedForm
        label="Add a passkey"
        open={flash?.values?.about === 'passkey'}
        action="/account_security/passkeys"
        data-passkey="add"
      >
        <HiddenFields csrfToken={csrfToken} values={{ about: 'passkey', ...(link === null ? {} : { link }) }} />
        <input type="hidden" name="response" />
        <Field
          {...refusedField(flash, 'name')}
          id="passkey_name"
          label="Name"
          hint="So you can find it in your list."
          defaultValue={flash?.values?.name ?? device}
          maxLength={MAX_PASSKEY_NAME}
          dir="auto"
          required
        />
        <CurrentPassword flash={null} name="current_password" of="passkey_" />
        <p className="hint" role="status" />
        <Button type="submit" look="primary" disabled>
          Add a passkey
        </Button>
        <noscript>
          <p className="hint">
            Passkeys need JavaScript, which is off in this browser. An authenticator app works without it.
          </p>
        </noscript>
      </FoldedForm>
    </Card>
  )
}

function OwnPasskey({
  id,
  name,
  added_at,
  last_used_at,
  isLast,
  csrfToken,
  flash,
}: Passkey & FormProps & { isLast: boolean }) {
  const refused = flash?.values?.about === id ? flash : null
  return (
    <FoldedForm
      label={`Remove ${name}`}
      summary={
        <>
          <bdi>{name}</bdi>
          <span className="hint">
            {' '}
            Added <Time at={added_at} />,{' '}
            {last_used_at ? (
              <>
                last used <Time at={last_used_at} />
              </>
            ) : (
              'never used'
            )}
          </span>
        </>
      }
      open={refused !== null}
      action={`/account_security/passkeys/${id}`}
    >
      <HiddenFields csrfToken={csrfToken} method="delete" values={{ about: id }} />
      <p>
        {isLast
          ? 'After that, your password alone signs you in, and your recovery codes stop working.'
          : 'It will no longer sign you in.'}{' '}
        Delete it in your password manager or on your security key as well.
      </p>
      <CurrentPassword flash={refused} name="current_password" of={`${id}_`} />
      <Button type="submit" look="danger" aria-label={`Remove ${name}`}>
        Remove
      </Button>
    </FoldedForm>
  )
}

function NoApp({ csrfToken, flash, link }: FormProps & { link: string | null }) {
  const refused = flash?.values?.about ? null : flash
  return (
    <Card title="Authenticator app" className="stack">
      <p>
        Use any app that shows 6-digit codes: your password manager, Google Authenticator, Microsoft Authenticator, or
        Aegis.
      </p>
      <FoldedForm label="Add an app" open={refused?.kind === 'danger'} action="/account_security/totp">
        <HiddenFields csrfToken={csrfToken} values={link === null ? {} : { link }} />
        <CurrentPassword flash={refused} name="current_password" />
        <Button type="submit" look="primary">
          Add an app
        </Button>
      </FoldedForm>
    </Card>
  )
}

function NewApp({ started, csrfToken, flash }: FormProps & { started: Started }) {
  return (
    <Card title="Add your authenticator app">
      <form className="stack form-narrow" method="post" action="/account_security/totp/confirm" noValidate>
        <HiddenFields csrfToken={csrfToken} />
        <p>
          Scan this with the app. On this device, <a href={started.uri}>open it in your app</a>.
        </p>
        <QrCode rows={started.qr} label="QR code for your authenticator app" />
        <div>
          Or type this key into the app:
          <Secret>{started.secret}</Secret>
        </div>
        <Field
          name="code"
          label="Code from the app"
          hint="The 6 digits it shows now. Nothing changes until you confirm them, within 10 minutes. Then we sign you out on every other device."
          autoComplete="one-time-code"
          inputMode="numeric"
          error={flash?.field === 'code' ? flash.message : null}
          required
        />
        <div className="row">
          <Button type="submit" look="primary">
            Confirm
          </Button>
          <a className="btn" href="/account_security">
            Cancel
          </a>
        </div>
      </form>
    </Card>
  )
}

function App({
  totp,
  isLast,
  csrfToken,
  flash,
}: FormProps & { totp: NonNullable<SecurityProps['totp']>; isLast: boolean }) {
  const refused = flash?.values?.about === 'app' ? flash : null
  return (
    <Card title="Authenticator app" className="stack">
      <p>
        On since <Time at={totp.added_at} />
        {totp.last_used_at ? (
          <>
            , last used <Time at={totp.last_used_at} />
          </>
        ) : null}
        .
      </p>
      <FoldedForm label="Remove the app" open={refused !== null} action="/account_security/totp">
        <HiddenFields csrfToken={csrfToken} method="delete" values={{ about: 'app' }} />
        <p>
          {isLast
            ? 'After that, your password alone signs you in, and your recovery codes stop working.'
            : 'You keep your passkeys and your recovery codes.'}
        </p>
        <CurrentPassword flash={refused} name="current_password" of="app_" />
        <Button type="submit" look="danger" aria-label="Remove the app">
          Remove
        </Button>
      </FoldedForm>
    </Card>
  )
}

function Codes({ left, csrfToken, flash }: FormProps & { left: number }) {
  const refused = flash?.values?.about === 'codes' ? flash : null
  return (
    <Card title="Recovery codes" className="stack">
      <p>
        {left} of {RECOVERY_CODES} left. Each signs you in once if you lose your passkey or your phone.
      </p>
      <FoldedForm
        label="Make new codes"
        open={refused !== null || left === 0}
        action="/account_security/recovery_codes"
      >
        <HiddenFields csrfToken={csrfToken} values={{ about: 'codes' }} />
        <p>Your current codes stop working.</p>
        <CurrentPassword flash={refused} name="current_password" of="codes_" />
        <Button type="submit" look="primary">
          Make {RECOVERY_CODES} new codes
        </Button>
      </FoldedForm>
    </Card>
  )
}
