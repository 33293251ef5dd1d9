import { useEffect, useState } from 'react'
import { plainText } from '../../domain/ansi.ts'

/** The last line of a server that is starting. */
export function LastLine({ runId }: { runId: string }) {
  const [text, setText] = useState('')
  useEffect(() => {
    const source = new EventSource(`/api/v1/servers/${runId}/log`)
    source.onmessage = ({ data }: MessageEvent<string>) => setText(plainText(JSON.parse(data).text))
    source.addEventListener('end', () => source.close())
    return () => source.close()
  }, [runId])
  return (
    <p className="last-line hint mono">
      <bdi>{text}</bdi>
    </p>
  )
}
