import type { ReactNode } from 'react'
import { Alert } from '../../ui/Alert.tsx'
import { Secret } from '../../ui/Secret.tsx'

/** A signing secret, the only time a page shows it. */
export function NewSecret({ secret, children }: { secret: string; children: ReactNode }) {
  return (
    <Alert kind="success" takesFocus>
      {children} Copy its signing secret now: we won't show it again.
      <Secret>{secret}</Secret>
    </Alert>
  )
}
