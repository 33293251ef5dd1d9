import { lazy, Suspense, useState, useSyncExternalStore } from 'react'
import { inText, nameOf } from '../domain/file-names.ts'
import { FILES_READ_ONLY, type FilesReadOnly, sizeText } from '../domain/files.ts'
import type { FileList, UnfinishedUpload } from '../domain/wire/files.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { Meter } from '../ui/Meter.tsx'
import { useHydrated } from '../ui/useHydrated.ts'
import { Boundary } from './Boundary.tsx'
import { DeleteDialog } from './files/DeleteDialog.tsx'
import { Dropping } from './files/Dropping.tsx'
import type { RowActs } from './files/FileTable.tsx'
import { FolderCard } from './files/FolderCard.tsx'
import { Going } from './files/Going.tsx'
import { PlainForms, type PlainQuestion } from './files/PlainForms.tsx'
import type { Previewed } from './files/Preview.tsx'
import { previewKind } from './files/preview-kind.ts'
import { Unfinished } from './files/Unfinished.tsx'
import { Uploads } from './files/Uploads.tsx'
import { useArchive } from './files/useArchive.ts'
import { useDelete } from './files/useDelete.ts'
import { useFolder } from './files/useFolder.ts'
import { useNotice } from './files/useNotice.ts'
import { useUploads } from './files/useUploads.ts'

/** Opens on a click, and only loads then. */
const Preview = lazy(async () => ({ default: (await import('./files/Preview.tsx')).Preview }))

export type FilesProps = {
  list: FileList
  /** Where this page of names begins, for browsers without script; null: at the start. */
  after: string | null
  unfinished: UnfinishedUpload[]
  /** Why files can only be read, regardless of usage; null: files can be added. */
  readOnly: Exclude<FilesReadOnly, 'full'> | null
  /** Whether what a server saves in /data comes here. */
  filesStay: boolean
  question: PlainQuestion | null
  csrfToken: string
  flash: FlashMessage | null
}

/** Someone's files: a folder, and what they can do with its contents. */
export function Files(props: FilesProps) {
  const local = useHydrated()
  const { folder, open, reload, pauseMs } = useFolder(props.list, props.after)
  const { notice, tell, dismiss } = useNotice()
  const deletion = useDelete((message) => {
    tell('success', message)
    reload()
  })
  const { archive, saveArchive, stopArchive } = useArchive(tell)
  const [previewed, setPreviewed] = useState<Previewed | null>(null)
  const uploads = useUploads(folder.path, reload, pauseMs)
  const seen = useSyncExternalStore(uploads.queue.subscribe, uploads.queue.seen, uploads.queue.seen)
  const space = spaceOf(props.readOnly, folder)
  const acts: RowActs = {
    onOpen: open,
    onPreview: (entry) => {
      const kind = entry.isFolder ? null : previewKind(entry.name, entry.size)
      if (!entry.isFolder && kind !== null) setPreviewed({ ...entry, kind })
    },
    onArchive: ({ path, name }) => saveArchive(path, name),
    onDelete: deletion.ask,
  }
  return (
    <Dropping enabled={local && space.why === null} onDrop={uploads.drop}>
      <Head {...space} />
      <FlashAlert flash={props.flash} />
      {props.question ? <PlainForms question={props.question} csrfToken={props.csrfToken} /> : null}
      {notice ? (
        <Alert key={notice.nth} kind={notice.kind} onDismiss={dismiss}>
          {notice.text}
        </Alert>
      ) : null}
      <Going deleting={folder.deleting} />
      {archive ? (
        <Alert kind="info">
          <div className="row">
            <span>{`Saving ${inText(`${archive.name}.zip`)}: ${sizeText(archive.bytes)} so far. Keep this page open.`}</span>
            <Button small onClick={stopArchive}>
              Cancel
            </Button>
          </div>
        </Alert>
      ) : null}
      <Refused sentences={uploads.refused} />
      <Uploads uploads={seen} onPause={uploads.pause} onResume={uploads.resume} onRemove={uploads.remove} />
      <FolderCard
        folder={folder}
        acts={local ? acts : null}
        mayAdd={space.why === null}
        csrfToken={props.csrfToken}
        emptyText={emptyText(props)}
        plain={{ after: props.after, next: props.list.next }}
        onChosen={uploads.choose}
        onArchive={() => saveArchive(folder.path, nameOf(folder.path) || 'files')}
        onReload={reload}
      />
      <Unfinished uploads={props.unfinished} csrfToken={props.csrfToken} />
      {deletion.doomed ? (
        <DeleteDialog
          key={deletion.doomed.path}
          doomed={deletion.doomed}
          onYes={deletion.act}
          onClose={deletion.close}
        />
      ) : null}
      {previewed ? (
        <Boundary key={previewed.path}>
          <Suspense fallback={null}>
            <Preview {...previewed} onClose={() => setPreviewed(null)} />
          </Suspense>
        </Boundary>
      ) : null}
    </Dropping>
  )
}

type Space = {
  used: number
  limit: number | null
  readOnly: FilesProps['readOnly']
  why: FilesReadOnly | null
}

/** While the page is open, deleting makes room and uploads use it up. */
function spaceOf(without: FilesProps['readOnly'], { used, limit }: { used: number; limit: number | null }): Space {
  // We keep an ended plan's files for a while, and then they are gone.
  const readOnly = without && (used > 0 || without !== 'ended' ? without : 'none')
  return { used, limit, readOnly, why: readOnly ?? (limit !== null && used >= limit ? 'full' : null) }
}

function Head({ used, limit, readOnly, why }: Space) {
  return (
    <>
      <div className="page-head">
        <h1>Files</h1>
        <div className="files-used">
          {readOnly === 'none' ? null : limit === null ? (
            <p className="hint">{sizeText(used)} used</p>
          ) : (
            <Meter label="Used" value={used} max={limit} text={`${sizeText(used)} of ${sizeText(limit)}`} />
          )}
        </div>
      </div>
      {why ? (
        <Alert kind="warning">
          {FILES_READ_ONLY[why]}{' '}
          {why === 'suspended' || why === 'held' ? null : <a href="/subscriptions">See the plans</a>}
        </Alert>
      ) : null}
    </>
  )
}

/** Chosen files that can't be uploaded. */
function Refused({ sentences }: { sentences: string[] }) {
  if (sentences.length === 0) return null
  return (
    <Alert key={sentences.join()} kind="danger" dismissible>
      {sentences.slice(0, 5).join(' ')}
      {sentences.length > 5 ? ` And ${sentences.length - 5} more.` : ''}
    </Alert>
  )
}

function emptyText({ readOnly, filesStay }: FilesProps): string {
  if (readOnly) return 'No files.'
  return filesStay ? 'No files yet. Upload some, or save them in /data on a server.' : 'No files yet. Upload some.'
}
