import { useState } from 'react'
import type { AlertKind } from '../../ui/Alert.tsx'

/** The result of the last act. `nth` distinguishes a notice from an earlier one with the same words. */
export type Notice = { kind: AlertKind; text: string; nth: number }

export function useNotice() {
  const [notice, setNotice] = useState<Notice | null>(null)
  const tell = (kind: AlertKind, text: string) => setNotice((before) => ({ kind, text, nth: (before?.nth ?? 0) + 1 }))
  return { notice, tell, dismiss: () => setNotice(null) }
}
