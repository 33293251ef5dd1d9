import { TRIAL_MINUTES } from '../domain/money/plan.ts'
import { SignUpForm, type SignUpFormProps } from '../islands/SignUpForm.tsx'
import { FormPage } from './account/FormPage.tsx'
import { Island } from './Island.tsx'

export function SignUp(props: SignUpFormProps) {
  return (
    <FormPage
      title="Sign Up"
      foot={
        <>
          Already have an account? <a href="/sign_in">Sign In</a>
        </>
      }
    >
      <p className="muted">{TRIAL_MINUTES} minutes free, no card.</p>
      <Island name="SignUpForm" of={SignUpForm} props={props} />
    </FormPage>
  )
}
