import { SignInForm, type SignInFormProps } from '../islands/SignInForm.tsx'
import { PasskeyButton } from '../ui/PasskeyButton.tsx'
import { FormPage } from './account/FormPage.tsx'
import { Island } from './Island.tsx'

export function SignIn(props: SignInFormProps) {
  return (
    <FormPage
      title="Sign In"
      foot={
        <>
          <a href="/forgot_password">Forgot your password?</a> · New here? <a href="/sign_up">Sign Up</a>
        </>
      }
    >
      <Island name="SignInForm" of={SignInForm} props={props} />
      <PasskeyButton does="sign_in">Sign in with a passkey</PasskeyButton>
    </FormPage>
  )
}
