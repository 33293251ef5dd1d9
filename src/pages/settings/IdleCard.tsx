import { LEAST_IDLE_MINUTES, MOST_IDLE_MINUTES } from '../../domain/idle.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Field } from '../../ui/Field.tsx'
import { FlashAlert, type FlashMessage, refusedField } from '../../ui/FlashAlert.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'

type IdleProps = { minutes: number | null; csrfToken: string; flash: FlashMessage | null }

/** After how long without use we stop a server. */
export function IdleCard({ minutes, csrfToken, flash }: IdleProps) {
  return (
    <Card title="Idle servers" id="idle" className="stack">
      <FlashAlert flash={flash} />
      <p>
        Forgot a running server? We can stop it once it has been idle for a while. We warn you 10 minutes ahead, and one
        click keeps it running.
      </p>
      <form className="stack form-narrow" method="post" action="/api/v1/idle" noValidate>
        <HiddenFields csrfToken={csrfToken} values={{ about: 'idle' }} />
        <Field
          {...refusedField(flash, 'minutes')}
          label="Stop after how many minutes without use"
          type="number"
          inputMode="numeric"
          min={LEAST_IDLE_MINUTES}
          max={MOST_IDLE_MINUTES}
          step={1}
          defaultValue={flash && flash.kind !== 'success' ? flash.values?.minutes : (minutes ?? '')}
          hint={`From ${LEAST_IDLE_MINUTES} to ${MOST_IDLE_MINUTES}. Leave it empty to keep idle servers running.`}
        />
        <p className="hint">
          This works only with simulators that <a href="/docs/images#idle">report whether they’re in use</a>. Others
          keep running.
        </p>
        <Button type="submit" look="primary">
          Save
        </Button>
      </form>
    </Card>
  )
}
