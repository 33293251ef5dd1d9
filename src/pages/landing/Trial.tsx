import { TRIAL_MINUTES } from '../../domain/money/plan.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Section } from './Section.tsx'

/** The last word: what a visitor can do at once. */
export function Trial() {
  return (
    <Section id="trial" label="Trial" title={`${TRIAL_MINUTES} minutes of a server, free`}>
      <p className="muted lead">
        No card: all you need is a name, an email address and a password. Your minutes only count once your server
        answers.
      </p>
      <ButtonLink href="/sign_up" look="primary">
        Try it
      </ButtonLink>
    </Section>
  )
}
