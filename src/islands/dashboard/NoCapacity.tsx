import type { MouseEvent } from 'react'
import { writeParameters } from '../../domain/parameters.ts'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { useCountdown } from '../useCountdown.ts'
import { chosenEnd } from './EndChoice.tsx'
import { chosenParameters } from './ParametersChoice.tsx'
import { chosenSecrets } from './SecretsChoice.tsx'
import { chosenWorld } from './WorldChoice.tsx'

const WAIT_S = 30
const nothing = () => {}

type Props = { onStart: (() => void) | null; mayWait: boolean }

/** What to do when the whole fleet is taken: wait in line, try again, or contact sales. Nothing starts until you say so. */
export function NoCapacity({ onStart, mayWait }: Props) {
  const left = useCountdown(WAIT_S, true, nothing)
  return (
    <span className="row what-next">
      {mayWait ? (
        <ButtonLink small look="primary" href="/line" onClick={carryWishes}>
          Wait in line
        </ButtonLink>
      ) : null}
      <Button small disabled={left > 0 || !onStart} onClick={onStart ?? nothing}>
        {left > 0 ? `Try again in ${left} s` : 'Try again'}
      </Button>
      <a href="/contact_sales">Contact sales</a>
    </span>
  )
}

/** The choices on this page, for the start at the end of the line. */
function carryWishes({ currentTarget }: MouseEvent<HTMLAnchorElement>): void {
  const parameters = writeParameters(chosenParameters().parameters ?? {})
  const wishes = {
    ...chosenWorld(),
    // Without one, the page would take their last choice.
    stop_after: `${chosenEnd().stop_after ?? ''}`,
    ...(parameters && { parameters }),
    ...Object.fromEntries((chosenSecrets().secrets ?? []).map((name) => [`secrets[${name}]`, 'on'])),
  }
  currentTarget.search = new URLSearchParams(wishes).toString()
}
