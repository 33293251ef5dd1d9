import { sizeText } from '../../domain/files.ts'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'
import type { Upload, UploadsSeen } from './upload-queue.ts'

const WORDS: Record<Upload['state'], string> = {
  waiting: 'Waiting',
  sending: 'Uploading',
  network: 'Waiting for the connection',
  busy: 'Waiting: too many requests',
  paused: 'Paused',
  failed: 'Failed',
  done: 'Uploaded',
}

type Props = {
  uploads: UploadsSeen
  onPause: (id?: number) => void
  onResume: (id?: number) => void
  onRemove: (id?: number) => void
}

/** What is being sent, and its progress. */
export function Uploads({ uploads, onPause, onResume, onRemove }: Props) {
  if (uploads.files === 0) return null
  const { active, failed, paused, shown, more } = uploads
  return (
    <section className="card uploads no-print" aria-labelledby="uploads-title">
      <div className="card-head">
        <h2 id="uploads-title">{titleOf(uploads)}</h2>
        <div className="row">
          {active ? (
            <Button small onClick={() => onPause()}>
              Pause all
            </Button>
          ) : null}
          {paused || failed ? (
            <Button small onClick={() => onResume()}>
              {paused ? 'Resume' : 'Try again'}
            </Button>
          ) : null}
          <Button small onClick={() => onRemove()}>
            {active || paused ? 'Cancel all' : 'Close'}
          </Button>
        </div>
      </div>
      <Bar label="All uploads" value={uploads.bytesSent} max={uploads.bytes} />
      {shown.length ? (
        <ul className="stack">
          {shown.map((upload) => (
            <li key={upload.id} data-state={upload.state}>
              <bdi>{upload.path}</bdi>
              <span className="hint">
                {upload.state === 'failed' ? upload.error : `${WORDS[upload.state]}, ${progressOf(upload)}`}
              </span>
              <div className="row-acts">
                {upload.state === 'paused' || upload.state === 'failed' ? (
                  <Button
                    small
                    onClick={() => onResume(upload.id)}
                    aria-label={`${upload.state === 'failed' ? 'Try again:' : 'Resume'} ${upload.path}`}
                  >
                    {upload.state === 'failed' ? 'Try again' : 'Resume'}
                  </Button>
                ) : (
                  <Button small onClick={() => onPause(upload.id)} aria-label={`Pause ${upload.path}`}>
                    Pause
                  </Button>
                )}
                <Button small look="plain" onClick={() => onRemove(upload.id)} aria-label={`Cancel ${upload.path}`}>
                  <Icon name="x" />
                </Button>
              </div>
              <Bar label={upload.path} value={upload.sent} max={upload.size} />
            </li>
          ))}
        </ul>
      ) : null}
      {more ? <p className="hint">{`And ${more.toLocaleString('en-US')} more.`}</p> : null}
    </section>
  )
}

function Bar({ label, value, max }: { label: string; value: number; max: number }) {
  return (
    <div className="meter">
      <progress aria-label={label} aria-valuetext={percent(value, max)} value={max ? value : 1} max={max || 1} />
    </div>
  )
}

function titleOf({ files, filesDone, failed, active, paused, offline }: UploadsSeen): string {
  const count = (n: number) => `${n.toLocaleString('en-US')} ${n === 1 ? 'file' : 'files'}`
  if (offline) return 'Connection lost. Uploading continues when it is back.'
  if (active) return `Uploading ${filesDone.toLocaleString('en-US')} of ${count(files)}`
  if (paused) return `Paused: ${filesDone.toLocaleString('en-US')} of ${count(files)} uploaded`
  return failed ? `${count(failed)} not uploaded` : `Uploaded ${count(files)}`
}

/** What a screen reader says from time to time: whole quarters, and anything that changes the outcome. */
export function announcementOf(uploads: UploadsSeen): string | null {
  if (uploads.files === 0) return null
  if (!uploads.active || uploads.offline || uploads.paused) return titleOf(uploads)
  const quarter = Math.floor((4 * uploads.bytesSent) / (uploads.bytes || 1)) * 25
  return quarter > 0 && quarter < 100 ? `${quarter} percent uploaded` : null
}

function progressOf({ sent, size }: Upload): string {
  return `${sizeText(sent)} of ${sizeText(size)}`
}

function percent(value: number, max: number): string {
  return `${Math.floor((100 * value) / (max || 1))} percent`
}
