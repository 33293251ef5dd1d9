import { useEffect, useState } from 'react'
import { readBootstrapUser } from '../../domain/user-state.ts'
import { Button } from '../../ui/Button.tsx'
import { ErrorState } from '../../ui/States.tsx'

/** Appears when the page's own account of who is signed in cannot be read: then nothing that it says can be relied on. */
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
      Something is wrong with the state of your session.
    </ErrorState>
  )
}
