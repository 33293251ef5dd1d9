import { TRIAL_MINUTES } from '../../domain/money/plan.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Section } from './Section.tsx'

/** The closing call to action. */
export function Trial() {
  return (
    <Section id="trial" label="Trial" title={`${TRIAL_MINUTES} minutes free, no card`}>
      <p className="muted lead">
        All you need is a name, an email address, and a password. Your minutes count only while your server is up.
      </p>
      <ButtonLink href="/sign_up" look="primary">
        Start free
      </ButtonLink>
    </Section>
  )
}
