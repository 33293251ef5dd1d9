import { useEffect, useState } from 'react'
import { readBootstrapUser } from '../../domain/user-state.ts'
import { Button } from '../../ui/Button.tsx'
import { ErrorState } from '../../ui/States.tsx'

/** Appears when the page's user state cannot be read: then nothing else on the page is reliable either. */
export function StateError() {
  const [corrupted, setCorrupted] = useState(false)
  useEffect(() => {
    try {
      readBootstrapUser(document.getElementById('bootstrap')?.textContent)
    } catch {
      setCorrupted(true)
    }
  }, [])
  if (!corrupted) return null
  return (
    <ErrorState action={<Button onClick={() => location.reload()}>Refresh Page</Button>}>
      Something went wrong with your session.
    </ErrorState>
  )
}
