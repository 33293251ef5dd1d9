/** `status` 0: the network failed. */
type PutAnswer = { status: number }
export type Put = (
  to: { url: string; method: string; headers: Record<string, string> },
  content: Blob,
  options: { onSent: (bytes: number) => void; signal: AbortSignal },
) => Promise<PutAnswer>

/** A connection without traffic for this long is lost. */
const SILENT_MS = 60_000

/** Sends bytes to the bucket. Uses XMLHttpRequest because fetch doesn't report how much it has sent. */
export const put: Put = (to, content, { onSent, signal }) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve({ status: 0 })
    const xhr = new XMLHttpRequest()
    let timer = 0
    const alive = () => {
      clearTimeout(timer)
      timer = window.setTimeout(() => xhr.abort(), SILENT_MS)
    }
    const stop = () => xhr.abort()
    const end = (status: number) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      resolve({ status })
    }
    signal.addEventListener('abort', stop)
    xhr.upload.onprogress = ({ loaded }) => {
      alive()
      onSent(loaded)
    }
    xhr.onload = () => end(xhr.status)
    xhr.onerror = () => end(0)
    xhr.onabort = () => end(0)
    xhr.open(to.method, to.url)
    for (const [name, value] of Object.entries(to.headers)) xhr.setRequestHeader(name, value)
    alive()
    xhr.send(content)
  })
