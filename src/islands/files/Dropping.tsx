import { type ReactNode, useEffect, useRef, useState } from 'react'

/** Takes files that are dropped anywhere on the page. Outside the list, a browser would leave the page to open them. */
export function Dropping({
  enabled,
  onDrop,
  children,
}: {
  enabled: boolean
  onDrop: (dropped: DataTransfer) => void
  children: ReactNode
}) {
  const [over, setOver] = useState(false)
  const latest = useRef(onDrop)
  latest.current = onDrop
  useEffect(() => {
    if (!enabled) return
    const abort = new AbortController()
    const listen = (type: 'dragenter' | 'dragleave' | 'dragover' | 'drop', act: (dragged: DataTransfer) => void) =>
      document.addEventListener(
        type,
        (event) => {
          if (!event.dataTransfer?.types.includes('Files')) return
          event.preventDefault()
          act(event.dataTransfer)
        },
        { signal: abort.signal },
      )
    // Entering an element means leaving its parent, so only the difference counts.
    let depth = 0
    const enter = (step: number) => () => {
      depth += step
      setOver(depth > 0)
    }
    listen('dragenter', enter(1))
    listen('dragleave', enter(-1))
    listen('dragover', () => {})
    listen('drop', (dropped) => {
      depth = 0
      setOver(false)
      latest.current(dropped)
    })
    return () => abort.abort()
  }, [enabled])
  return <div className={over ? 'stack dropping' : 'stack'}>{children}</div>
}
