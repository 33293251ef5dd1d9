import { ConfirmEmail, type ConfirmEmailProps } from '../islands/ConfirmEmail.tsx'
import { FormPage } from './account/FormPage.tsx'
import { Island } from './Island.tsx'

/** Without a script the browser goes on to the confirmation by itself, and from there to the screen that shows what came of it. */
export function ConfirmEmailPage(props: ConfirmEmailProps) {
  const confirm = `/users/confirmation?confirmation_token=${encodeURIComponent(props.token ?? '')}`
  return (
    <FormPage title="Confirm your email" foot={<a href="/sign_in">Sign In</a>}>
      {props.token ? (
        <noscript>
          <meta httpEquiv="refresh" content={`0; url=${confirm}`} />
          <a href={confirm}>Confirm my email address</a>
        </noscript>
      ) : null}
      <Island name="ConfirmEmail" of={ConfirmEmail} props={props} />
    </FormPage>
  )
}
