import { useState } from 'react'
import type { AlertKind } from '../../ui/Alert.tsx'

/** What came of the last act. `nth` tells one notice from the same words again. */
export type Notice = { kind: AlertKind; text: string; nth: number }

export function useNotice() {
  const [notice, setNotice] = useState<Notice | null>(null)
  const tell = (kind: AlertKind, text: string) => setNotice((before) => ({ kind, text, nth: (before?.nth ?? 0) + 1 }))
  return { notice, tell, dismiss: () => setNotice(null) }
}
