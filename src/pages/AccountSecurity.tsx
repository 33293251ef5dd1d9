import { RECOVERY_CODES } from '../domain/factor.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Secret } from '../ui/Secret.tsx'
import { Time } from '../ui/Time.tsx'
import { CurrentPassword } from './account/CurrentPassword.tsx'
import { QrCode } from './account/QrCode.tsx'
import { HasFactor } from './account/Username.tsx'

type Started = { secret: string; uri: string; qr: boolean[][] }
export type SecurityProps = {
  totp: { added_at: string; last_used_at: string | null } | null
  recovery_codes: { left: number; made_at: string | null }
  /** For an admin who has none: the emailed link that lets them add one, empty before they open it. Null: no link needed. */
  link: string | null
  /** When an operator removes the factor as lost; null: nobody does. */
  removal_at: string | null
  /** An app that waits for its first code. */
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
  link,
  removal_at,
  started,
  codes,
  csrfToken,
  flash,
}: SecurityProps) {
  const form = { csrfToken, flash }
  const page = (
    <div className="page stack">
      <div className="page-head">
        <h1>Two-factor sign-in</h1>
      </div>
      {codes ? (
        <Alert kind="success" takesFocus>
          {codes.message} Save these recovery codes now: we won't show them again. Each signs you in once if you lose
          your phone.
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
              Someone told us that your second factor is lost. We remove it and your recovery codes on{' '}
              <Time at={removal_at} />. Do you still have it?
            </p>
            <Button type="submit" look="primary">
              Keep it
            </Button>
          </form>
        </Alert>
      ) : null}
      <p>
        With a second factor, someone who learns your password still can't get in. You then enter a code when you sign
        in, choose a new password, create API tokens, or change secrets and webhooks. Programs with an API token are
        never asked.
      </p>
      {started ? (
        <NewApp {...form} started={started} />
      ) : totp ? (
        <App {...form} totp={totp} />
      ) : link === '' ? (
        <MailLink csrfToken={csrfToken} />
      ) : (
        <NoApp {...form} link={link} />
      )}
      {totp ? <Codes {...form} left={recovery_codes.left} /> : null}
      <p className="hint">
        <a href="/activity">Activity</a> · <a href="/account_overview">Back to Account</a>
      </p>
    </div>
  )
  // Right after adding the app, the sign-in of this request still has none.
  return <HasFactor value={totp !== null}>{page}</HasFactor>
}

type FormProps = { csrfToken: string; flash: FlashMessage | null }

/** For admins: their password alone adds none. */
function MailLink({ csrfToken }: { csrfToken: string }) {
  return (
    <Card title="Authenticator app">
      <form className="stack form-narrow" method="post" action="/account_security/link">
        <HiddenFields csrfToken={csrfToken} />
        <p>
          As an admin, you need one to open the console. You add it with your password and a link that we email to you.
          The link works once, within 10 minutes.
        </p>
        <Button type="submit" look="primary">
          Email me the link
        </Button>
      </form>
    </Card>
  )
}

function NoApp({ csrfToken, flash, link }: FormProps & { link: string | null }) {
  return (
    <Card title="Authenticator app">
      <form className="stack form-narrow" method="post" action="/account_security/totp" noValidate>
        <HiddenFields csrfToken={csrfToken} values={link === null ? {} : { link }} />
        <p>
          Use any app that shows 6-digit codes: your password manager, Google Authenticator, Microsoft Authenticator, or
          Aegis.
        </p>
        <CurrentPassword flash={flash} name="current_password" />
        <Button type="submit" look="primary">
          Add an app
        </Button>
      </form>
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
          hint="The 6 digits that it shows now. Nothing changes until you confirm them, within 10 minutes. We then sign you out on every other device."
          autoComplete="one-time-code"
          inputMode="numeric"
          error={flash?.field === 'code' ? flash.message : null}
          required
        />
        <div className="actions">
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

function App({ totp, csrfToken, flash }: FormProps & { totp: NonNullable<SecurityProps['totp']> }) {
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
      <details className="fold" open={refused !== null}>
        <summary>Remove the app</summary>
        <form className="stack form-narrow" method="post" action="/account_security/totp" noValidate>
          <HiddenFields csrfToken={csrfToken} method="delete" values={{ about: 'app' }} />
          <p>From then on, your password alone signs you in, and your recovery codes are gone.</p>
          <CurrentPassword flash={refused} name="current_password" of="app_" />
          <Button type="submit" look="danger">
            Remove
          </Button>
        </form>
      </details>
    </Card>
  )
}

function Codes({ left, csrfToken, flash }: FormProps & { left: number }) {
  const refused = flash?.values?.about === 'codes' ? flash : null
  return (
    <Card title="Recovery codes" className="stack">
      <p>
        {left} of {RECOVERY_CODES} left. Each signs you in once if you lose your phone.
      </p>
      <details className="fold" open={refused !== null || left === 0}>
        <summary>Make new codes</summary>
        <form className="stack form-narrow" method="post" action="/account_security/recovery_codes" noValidate>
          <HiddenFields csrfToken={csrfToken} values={{ about: 'codes' }} />
          <p>The codes you have now stop working.</p>
          <CurrentPassword flash={refused} name="current_password" of="codes_" />
          <Button type="submit" look="primary">
            Make {RECOVERY_CODES} new codes
          </Button>
        </form>
      </details>
    </Card>
  )
}
