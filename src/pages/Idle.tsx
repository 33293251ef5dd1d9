import { LEAST_IDLE_MINUTES, MOST_IDLE_MINUTES } from '../domain/idle.ts'
import { Button } from '../ui/Button.tsx'
import { Field } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage, refusedField } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { FormPage } from './account/FormPage.tsx'

type IdleProps = { minutes: number | null; csrfToken: string; flash: FlashMessage | null }

/** After how long without use we stop a server. */
export function Idle({ minutes, csrfToken, flash }: IdleProps) {
  return (
    <FormPage title="Idle servers" foot={<a href="/account_overview">Back to your account</a>}>
      <FlashAlert flash={flash} />
      <p>
        Forgot a running server? We can stop it once nobody has used it for a while. We warn you 10 minutes before, and
        one click keeps it.
      </p>
      <form className="stack" method="post" action="/api/v1/idle" noValidate>
        <HiddenFields csrfToken={csrfToken} />
        <Field
          {...refusedField(flash, 'minutes')}
          label="Stop after how many minutes without use"
          type="number"
          inputMode="numeric"
          min={LEAST_IDLE_MINUTES}
          max={MOST_IDLE_MINUTES}
          step={1}
          defaultValue={flash?.values ? flash.values.minutes : (minutes ?? '')}
          hint={`From ${LEAST_IDLE_MINUTES} to ${MOST_IDLE_MINUTES}. Leave it empty to keep idle servers running.`}
        />
        <p className="hint">
          This works only with simulators that <a href="/docs/images#idle">say whether they are used</a>. Any other
          keeps running.
        </p>
        <Button type="submit" look="primary">
          Save
        </Button>
      </form>
    </FormPage>
  )
}
