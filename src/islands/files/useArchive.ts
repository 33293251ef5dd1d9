import { useEffect, useRef, useState } from 'react'
import { inText } from '../../domain/file-names.ts'
import type { AlertKind } from '../../ui/Alert.tsx'

/** Saves a folder as one archive, and reports its progress. */
export function useArchive(tell: (kind: AlertKind, text: string) => void) {
  const [archive, setArchive] = useState<{ name: string; bytes: number } | null>(null)
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])

  async function save(folder: string, name: string): Promise<void> {
    stop.current?.abort()
    const mine = new AbortController()
    stop.current = mine
    let leftOut = 0
    let gone = 0
    const part = await import('./archive.ts').catch(() => null)
    if (!part) return tell('danger', "This part of the page couldn't be loaded. Reload the page to use it.")
    const { saveArchive, NoArchive } = part
    try {
      await saveArchive(folder, name, {
        onBytes: (bytes) => setArchive({ name, bytes }),
        onLeftOut: () => leftOut++,
        onGone: () => gone++,
        signal: mine.signal,
      })
      tell(leftOut || gone ? 'warning' : 'success', savedWords(name, leftOut, gone))
    } catch (error) {
      // They closed the dialog that asks where to save it, or canceled.
      const gaveUp = mine.signal.aborted || (error as Error).name === 'AbortError'
      if (!gaveUp)
        tell('danger', error instanceof NoArchive ? error.message : 'The archive could not be saved. Try again.')
    }
    if (stop.current === mine) setArchive(null)
  }

  return {
    archive,
    saveArchive: (folder: string, name: string) => void save(folder, name),
    stopArchive: () => stop.current?.abort(),
  }
}

export function savedWords(name: string, leftOut: number, gone: number): string {
  const files = (count: number) => (count === 1 ? '1 file' : `${count.toLocaleString('en-US')} files`)
  const saved = `Saved ${inText(`${name}.zip`)}`
  const without = leftOut
    ? `, without ${files(leftOut)} whose path has "." or "..": no link can lead there. Use the AWS command line.`
    : '.'
  return saved + without + (gone ? ` Meanwhile, ${files(gone)} ${gone === 1 ? 'was' : 'were'} deleted.` : '')
}
