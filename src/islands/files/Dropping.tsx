import { type DragEvent, type ReactNode, useRef, useState } from 'react'

/** Takes files that are dropped anywhere on the page. */
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
  /** Entering a child leaves its parent, so only the difference counts. */
  const depth = useRef(0)
  const hasFiles = ({ dataTransfer }: DragEvent) => enabled && dataTransfer.types.includes('Files')
  const enter = (event: DragEvent, step: number) => {
    if (!hasFiles(event)) return
    depth.current += step
    setOver(depth.current > 0)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for a mouse; the buttons do the same
    <div
      className={over ? 'stack dropping' : 'stack'}
      onDragEnter={(event) => enter(event, 1)}
      onDragLeave={(event) => enter(event, -1)}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDrop={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        depth.current = 0
        setOver(false)
        onDrop(event.dataTransfer)
      }}
    >
      {children}
    </div>
  )
}
