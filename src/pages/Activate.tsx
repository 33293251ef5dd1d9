import { DEFAULT_TOKEN_DAYS } from '../domain/api-token.ts'
import { toIso } from '../domain/instant.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { DefinitionStats } from '../ui/DefinitionStats.tsx'
import { Field } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage, refusedField } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'
import { CurrentPassword } from './account/CurrentPassword.tsx'
import { FormPage } from './account/FormPage.tsx'

type Login = {
  userCode: string
  deviceName: string
  address: string | null
  scope: 'read' | 'operate'
  createdAt: number
  /** A name for its token. */
  tokenName: string
}

export type ActivateProps = {
  /** Null: no code yet, or a wrong one. */
  login: Login | null
  typed: string
  /** The address of this browser. */
  here: string | null
  csrfToken: string
  flash: FlashMessage | null
}

/** Lets a command line use the person's account. Without a code, it asks for one. */
export function Activate({ login, ...props }: ActivateProps) {
  return (
    <FormPage title="Approve a command line" foot={<a href="/settings/developers#api_tokens">Your API tokens</a>}>
      {login ? <Decision login={login} {...props} /> : <CodeForm {...props} />}
    </FormPage>
  )
}

function CodeForm({ typed, flash }: Pick<ActivateProps, 'typed' | 'flash'>) {
  const wrong = flash?.field === 'user_code' ? flash.message : null
  return (
    <>
      {wrong ? null : <FlashAlert flash={flash} />}
      {flash?.kind === 'success' ? null : (
        <form className="stack" action="/activate" noValidate>
          <Field
            name="user_code"
            label="Code"
            defaultValue={typed}
            error={wrong}
            hint="Your terminal shows it after proving-ground login. Never type a code that someone sent you."
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            dir="ltr"
            required
          />
          <Button type="submit" look="primary">
            Continue
          </Button>
        </form>
      )}
    </>
  )
}

function Decision({ login, here, csrfToken, flash }: Omit<ActivateProps, 'typed' | 'login'> & { login: Login }) {
  const { userCode, address, scope } = login
  const elsewhere = address !== null && here !== null && address !== here
  return (
    <>
      <FlashAlert flash={flash?.field ? null : flash} />
      <DefinitionStats stats={[{ label: 'Does your terminal show this code?', value: userCode }]} />
      <Alert kind="warning" quiet>
        <strong>Decline if you didn't just run proving-ground login yourself.</strong> Someone who sends you a code or a
        link to this page is trying to get into your account. We never do.
      </Alert>
      <p>
        A command line that calls itself “<bdi>{login.deviceName}</bdi>” wants to{' '}
        <strong>
          {scope === 'read' ? 'read your servers, usage, and bills' : 'start and stop servers, and read your bills'}
        </strong>{' '}
        for {DEFAULT_TOKEN_DAYS} days.
      </p>
      <p className="hint">
        It asked at <Time at={toIso(login.createdAt)} layout="clock" /> from{' '}
        <span className="mono address">{address ?? 'this computer'}</span>.
        {elsewhere ? (
          <>
            {' '}
            <strong>That's not this browser's address</strong>, <span className="mono address">{here}</span>. Is that
            right?
          </>
        ) : null}
      </p>
      <form className="stack" method="post" action="/activate" noValidate>
        <HiddenFields csrfToken={csrfToken} values={{ user_code: userCode }} />
        <Field
          {...refusedField(flash, 'name')}
          label="Name"
          dir="auto"
          defaultValue={flash?.values?.name ?? login.tokenName}
          hint="So you can find its token in your list."
          required
        />
        <CurrentPassword flash={flash} name="current_password" />
        <div className="row">
          <Button type="submit" look="primary" name="decision" value="approve">
            Approve
          </Button>
          <Button type="submit" name="decision" value="deny">
            Decline
          </Button>
        </div>
      </form>
    </>
  )
}
