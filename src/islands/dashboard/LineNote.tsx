import type { LinePlace } from '../../domain/wire/fleet.ts'
import { Alert } from '../../ui/Alert.tsx'
import { Time } from '../../ui/Time.tsx'
import { useTitleCountdown } from '../useTitleCountdown.ts'

/** Their place in line, in a sentence. `/line` has the rest. */
export function LineNote({ line, now }: { line: LinePlace; now: number }) {
  const until = line.held_until
  useTitleCountdown(until ? (Date.parse(until) - now) / 1000 : null)
  return (
    <Alert kind={line.position ? 'info' : 'success'} quiet>
      {line.position ? (
        `You’re number ${line.position} in line for a server. `
      ) : until ? (
        <>
          A server is yours until <Time at={until} layout="time" />. Press Start Server before then.{' '}
        </>
      ) : (
        'It’s your turn. '
      )}
      <a href="/line">See your place in line</a>
    </Alert>
  )
}
