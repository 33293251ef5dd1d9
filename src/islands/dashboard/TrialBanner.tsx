import { Alert } from '../../ui/Alert.tsx'

/** Counts down while a server runs; screen readers don't hear the ticking. */
export function TrialBanner({ minutesLeft }: { minutesLeft: number }) {
  return (
    <Alert kind={minutesLeft > 0 ? 'info' : 'warning'} quiet>
      Free trial: <strong className="mono">{minutesLeft.toFixed(2)}</strong> minutes left.
      {minutesLeft > 0 ? ' Startup time doesn’t count.' : null}
    </Alert>
  )
}
