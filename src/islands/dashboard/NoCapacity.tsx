import { Button } from '../../ui/Button.tsx'
import { useCountdown } from '../useCountdown.ts'

const WAIT_S = 30
const nothing = () => {}

/** What to do when the whole fleet is taken: wait, or contact sales. Nothing starts, or costs, until you press it. */
export function NoCapacity({ onStart }: { onStart: (() => void) | null }) {
  const left = useCountdown(WAIT_S, true, nothing)
  return (
    <span className="row what-next">
      <Button small disabled={left > 0 || !onStart} onClick={onStart ?? nothing}>
        {left > 0 ? `Try again in ${left} s` : 'Try again'}
      </Button>
      <a href="/contact_sales">Contact sales</a>
    </span>
  )
}
