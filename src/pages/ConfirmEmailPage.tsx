import { ConfirmEmail, type ConfirmEmailProps } from '../islands/ConfirmEmail.tsx'
import { FormPage } from './account/FormPage.tsx'
import { Island } from './Island.tsx'

/** Without scripts the browser goes straight to the confirmation, which redirects to a screen with the result. */
export function ConfirmEmailPage(props: ConfirmEmailProps) {
  const confirm = `/users/confirmation?confirmation_token=${encodeURIComponent(props.token ?? '')}`
  return (
    <FormPage title="Confirm your email">
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
