import { useEffect, useRef, useState } from 'react'
import { visible } from '../../domain/file-names.ts'
import { sizeText } from '../../domain/files.ts'
import { Alert } from '../../ui/Alert.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Spinner } from '../../ui/States.tsx'
import { linkToContent } from './entries.ts'
import { type PreviewKind, TEXT_BYTES } from './preview-kind.ts'
import { NoPreview, readDrawing, readText } from './read-content.ts'

export type Previewed = { path: string; name: string; size: number; kind: PreviewKind }

/** Shows a file in place. Nothing in it runs: only images, videos, and text. */
export function Preview({ onClose, ...file }: Previewed & { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => ref.current?.showModal(), [])
  return (
    <dialog ref={ref} className="card preview" aria-labelledby="preview-title" onClose={onClose}>
      <div className="card-head">
        <h2 id="preview-title">
          <bdi>{visible(file.name)}</bdi>
        </h2>
        <form method="dialog" className="row">
          <ButtonLink small href={linkToContent(file.path)}>
            Download
          </ButtonLink>
          <Button type="submit" small>
            Close
          </Button>
        </form>
      </div>
      <Content {...file} />
    </dialog>
  )
}

function Content(file: Previewed) {
  const [failed, setFailed] = useState<string | null>(null)
  if (failed) return <Alert kind="danger">{failed}</Alert>
  const props = { ...file, onFail: setFailed }
  if (file.kind === 'text') return <Letters {...props} />
  if (file.kind === 'drawing') return <Drawing {...props} />
  return file.kind === 'video' ? <Film {...props} /> : <Picture {...props} src={linkToContent(file.path)} />
}

type Part = Previewed & { onFail: (words: string) => void }

const BROKEN = "Your browser can't show this file. Download it to open it."

function Picture({ name, src, onFail }: Part & { src: string }) {
  return <img src={src} alt={name} decoding="async" onError={() => onFail(BROKEN)} />
}

/** The link is valid for a minute. If the browser later needs more of the video, it gets a new link, at most once a minute. */
function Film({ path, name, onFail }: Part) {
  const failedAt = useRef(0)
  return (
    // biome-ignore lint/a11y/useMediaCaption: a recording of a simulation has no words
    <video
      src={linkToContent(path)}
      aria-label={name}
      controls
      preload="metadata"
      onError={({ currentTarget: video }) => {
        const at = video.currentTime
        if (at === 0 || performance.now() - failedAt.current < 60_000) return onFail(BROKEN)
        failedAt.current = performance.now()
        video.load()
        video.currentTime = at
        void video.play()
      }}
    />
  )
}

/** A drawing is an image: it runs no script and loads nothing. As a data URL, it has no origin when opened alone. */
function Drawing(props: Part) {
  const src = useRead(props, readDrawing)
  return src === null ? <Spinner label="Loading…" /> : <Picture {...props} src={src} />
}

function Letters(props: Part) {
  const text = useRead(props, readText)
  if (text === null) return <Spinner label="Loading…" />
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <pre tabIndex={0} dir="auto">
        {text}
      </pre>
      {props.size > TEXT_BYTES ? (
        <p className="hint">{`The first ${sizeText(TEXT_BYTES)} of ${sizeText(props.size)}. Download it to see the rest.`}</p>
      ) : null}
    </>
  )
}

function useRead(file: Part, read: (path: string, signal: AbortSignal) => Promise<string>): string | null {
  const [content, setContent] = useState<string | null>(null)
  const { path, onFail } = file
  const fail = useRef(onFail)
  useEffect(() => {
    const abort = new AbortController()
    read(path, abort.signal).then(setContent, (error) => {
      if (!abort.signal.aborted)
        fail.current(error instanceof NoPreview ? error.message : 'The file could not be read. Try again.')
    })
    return () => abort.abort()
  }, [path, read])
  return content
}
