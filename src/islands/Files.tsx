import { lazy, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { FILES_READ_ONLY, inText, nameOf, sizeText } from '../domain/files.ts'
import type { FileDeletion, FileList, UnfinishedUpload } from '../domain/wire.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { Meter } from '../ui/Meter.tsx'
import { EmptyState, ErrorState } from '../ui/States.tsx'
import { useHydrated } from '../ui/useHydrated.ts'
import { Boundary } from './Boundary.tsx'
import { AskDialog } from './files/AskDialog.tsx'
import { Crumbs } from './files/Crumbs.tsx'
import { Deleted } from './files/Deleted.tsx'
import { Dropping } from './files/Dropping.tsx'
import { BY_NAME, filterEntries, ROWS, sortEntries } from './files/entries.ts'
import { FileTable } from './files/FileTable.tsx'
import { Pager } from './files/Pager.tsx'
import { PlainForms, type PlainQuestion } from './files/PlainForms.tsx'
import { Toolbar } from './files/Toolbar.tsx'
import { Unfinished } from './files/Unfinished.tsx'
import { Uploads } from './files/Uploads.tsx'
import { useFileActs } from './files/useFileActs.ts'
import { useUploads } from './files/useUploads.ts'

/** It opens on a click, and loads with it. */
const Preview = lazy(async () => ({ default: (await import('./files/Preview.tsx')).Preview }))

export type FilesProps = {
  list: FileList
  /** Where this page of names begins, for browsers without script; null: at the start. */
  after: string | null
  deletions: FileDeletion[]
  unfinished: UnfinishedUpload[]
  /** Why there is no plan, so that files can only be read; null: there is one. */
  noPlan: 'ended' | 'none' | null
  /** Whether what a server saves in /data comes here. */
  filesStay: boolean
  question: PlainQuestion | null
  csrfToken: string
  flash: FlashMessage | null
}

/** Someone's files: a folder, and what can be done with what is in it. */
export function Files(props: FilesProps) {
  const local = useHydrated()
  const { folder, notice, asked, previewed, archive, deletions, ...acts } = useFileActs(props)
  const { path, entries } = folder
  const uploads = useUploads(path, acts.reload)
  const seen = useSyncExternalStore(uploads.queue.subscribe, uploads.queue.seen, uploads.queue.seen)
  const [order, setOrder] = useState(BY_NAME)
  const [words, setWords] = useState('')
  const [page, setPage] = useState(1)
  const here = useRef(path)
  useEffect(() => {
    if (here.current === path) return
    here.current = path
    setWords('')
    setPage(1)
  }, [path])

  // The server has sorted the first rows; another browser's alphabet must not change them while React hydrates.
  const found = local ? sortEntries(filterEntries(entries, words), order) : entries
  const pages = Math.max(1, Math.ceil(found.length / ROWS))
  const shownPage = Math.min(page, pages)
  const rows = found.slice((shownPage - 1) * ROWS, shownPage * ROWS)
  const turnTo = (to: number) => {
    setPage(to)
    document.querySelector('.folder')?.scrollIntoView()
  }
  const { used, limit } = folder
  // Deleting makes room while the page is open, and uploads use it up.
  // An ended plan's files are kept for a while, and then there are none.
  const noPlan = props.noPlan && (used > 0 ? props.noPlan : 'none')
  const why = noPlan ?? (limit !== null && used >= limit ? 'full' : null)
  return (
    <Dropping enabled={local && why === null} onDrop={uploads.drop}>
      <div className="page-head">
        <h1>Files</h1>
        <div className="files-used">
          {noPlan === 'none' ? null : limit === null ? (
            <p className="hint">{sizeText(used)} used</p>
          ) : (
            <Meter label="Used" value={used} max={limit} text={`${sizeText(used)} of ${sizeText(limit)}`} />
          )}
        </div>
      </div>
      <FlashAlert flash={props.flash} />
      {why ? (
        <Alert kind="warning">
          {FILES_READ_ONLY[why]} <a href="/subscriptions">See the plans</a>
        </Alert>
      ) : null}
      {props.question ? (
        <PlainForms question={props.question} path={props.list.path} csrfToken={props.csrfToken} />
      ) : null}
      {notice ? (
        <Alert key={notice.nth} kind={notice.kind} onDismiss={acts.dismiss}>
          {notice.text}{' '}
          {notice.undo ? (
            <button type="button" className="btn-text" onClick={() => void acts.undo(notice.undo ?? '')}>
              Undo
            </button>
          ) : null}
        </Alert>
      ) : null}
      {archive ? (
        <Alert kind="info">
          <div className="row">
            <span>{`Saving ${inText(`${archive.name}.zip`)}: ${sizeText(archive.bytes)} so far. Keep this page open.`}</span>
            <Button small onClick={acts.stopArchive}>
              Cancel
            </Button>
          </div>
        </Alert>
      ) : null}
      {uploads.refused.length ? (
        <Alert key={uploads.refused.join()} kind="danger" dismissible>
          {uploads.refused.slice(0, 5).join(' ')}
          {uploads.refused.length > 5 ? ` And ${uploads.refused.length - 5} more.` : ''}
        </Alert>
      ) : null}
      <Uploads uploads={seen} onPause={uploads.pause} onResume={uploads.resume} onRemove={uploads.remove} />
      <section className="card folder" aria-label={path === '' ? 'All files' : nameOf(path)} aria-busy={folder.loading}>
        <div className="card-head">
          <Crumbs path={path} onOpen={local ? acts.open : null} />
          <Toolbar
            path={path}
            csrfToken={props.csrfToken}
            mayAdd={why === null}
            onChosen={uploads.choose}
            onFolder={acts.askForFolder}
            onArchive={entries.length ? () => acts.saveArchive(path, path === '' ? 'files' : nameOf(path)) : null}
          />
        </div>
        {local && (entries.length > 12 || words) ? (
          <input
            type="search"
            className="input no-print"
            aria-label="Filter by name"
            placeholder="Filter by name"
            dir="auto"
            autoComplete="off"
            value={words}
            onChange={(event) => {
              setWords(event.target.value)
              setPage(1)
            }}
          />
        ) : null}
        {folder.error ? (
          <ErrorState
            action={
              <Button small onClick={acts.reload}>
                Try again
              </Button>
            }
          >
            {folder.error}
          </ErrorState>
        ) : null}
        {rows.length ? (
          <FileTable
            path={path}
            rows={rows}
            order={order}
            local={local}
            mayRename={props.noPlan === null}
            acts={local ? acts.rows : null}
            onOrder={
              local
                ? (by) => {
                    setOrder((before) => ({ by, descending: before.by === by ? !before.descending : by !== 'name' }))
                    setPage(1)
                  }
                : null
            }
          />
        ) : folder.error ? null : (
          <EmptyState>
            {words ? 'No names match.' : path === '' ? emptyText(props) : 'This folder is empty.'}
          </EmptyState>
        )}
        {folder.error && !rows.length ? null : (
          <Pager
            count={found.length}
            page={shownPage}
            pages={pages}
            loading={folder.loading}
            onPage={local ? turnTo : null}
            plain={{ path, after: props.after, next: props.list.next }}
          />
        )}
      </section>
      <Unfinished uploads={props.unfinished} csrfToken={props.csrfToken} />
      <Deleted deletions={deletions} csrfToken={props.csrfToken} onUndo={local ? acts.undo : null} />
      {asked ? <AskDialog key={asked.nth} {...asked} onAct={acts.answer} onClose={acts.closeAsk} /> : null}
      {previewed ? (
        <Boundary key={previewed.path}>
          <Suspense fallback={null}>
            <Preview {...previewed} onClose={acts.closePreview} />
          </Suspense>
        </Boundary>
      ) : null}
    </Dropping>
  )
}

function emptyText({ noPlan, filesStay }: FilesProps): string {
  if (noPlan) return 'No files.'
  return filesStay ? 'No files yet. Upload some, or save them in /data on a server.' : 'No files yet. Upload some.'
}
