import { useEffect, useRef, useState } from 'react'
import { nameOf } from '../../domain/file-names.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { Crumbs } from './Crumbs.tsx'
import type { Picked } from './chosen-files.ts'
import { BY_NAME, filterEntries, ROWS, shownName, sortEntries } from './entries.ts'
import { FileTable, type RowActs } from './FileTable.tsx'
import { Pager } from './Pager.tsx'
import { Toolbar } from './Toolbar.tsx'
import type { Folder } from './useFolder.ts'

type Props = {
  folder: Folder
  /** Null: the script isn't running yet. */
  acts: RowActs | null
  /** Nothing can be added to files that can only be read. */
  mayAdd: boolean
  csrfToken: string
  /** What an empty page says about all their files. */
  emptyText: string
  /** Without script, the server's pages of names. */
  plain: { after: string | null; next: string | null }
  onChosen: (picked: Picked[]) => void
  onArchive: () => void
  onReload: () => void
}

/** More names than this have a filter. */
const FEW = 12

/** A folder and its contents. */
export function FolderCard({
  folder,
  acts,
  mayAdd,
  csrfToken,
  emptyText,
  plain,
  onChosen,
  onArchive,
  onReload,
}: Props) {
  const { path, entries, error, loading } = folder
  const view = useView(folder, acts !== null)
  return (
    <section
      className="card folder"
      aria-label={path === '' ? 'All files' : shownName(nameOf(path))}
      aria-busy={loading}
    >
      <div className="card-head">
        <Crumbs path={path} onOpen={acts?.onOpen ?? null} />
        <Toolbar
          path={path}
          csrfToken={csrfToken}
          mayAdd={mayAdd}
          onChosen={onChosen}
          onArchive={entries.length ? onArchive : null}
        />
      </div>
      {acts && (entries.length > FEW || view.words) ? (
        <input
          type="search"
          className="input no-print"
          aria-label="Filter by name"
          placeholder="Filter by name"
          dir="auto"
          autoComplete="off"
          value={view.words}
          onChange={(event) => view.filter(event.target.value)}
        />
      ) : null}
      {error ? (
        <ErrorState
          action={
            <Button small onClick={onReload}>
              Try again
            </Button>
          }
        >
          {error}
        </ErrorState>
      ) : null}
      {view.rows.length ? (
        <FileTable
          path={path}
          rows={view.rows}
          order={view.order}
          local={acts !== null}
          acts={acts}
          onOrder={acts && view.orderBy}
        />
      ) : error ? null : (
        <EmptyState>
          {loading
            ? 'Reading names…'
            : view.words
              ? 'No names match.'
              : path === ''
                ? emptyText
                : 'This folder is empty.'}
        </EmptyState>
      )}
      {error && !view.rows.length ? null : (
        <Pager
          count={view.count}
          page={view.page}
          pages={view.pages}
          loading={loading}
          onPage={acts && view.turnTo}
          plain={{ path, ...plain }}
        />
      )}
      <p className="hint no-print">
        To rename or move files, use <code>/data</code> on a server, or <a href="/docs/cli#files">rclone</a>. A folder
        exists once it has a file.
      </p>
    </section>
  )
}

/** Which rows to show: filtered, in order, a page of them. */
function useView({ path, entries }: Folder, local: boolean) {
  const [order, setOrder] = useState(BY_NAME)
  const [words, setWords] = useState('')
  const [wanted, setPage] = useState(1)
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
  const page = Math.min(wanted, pages)
  return {
    rows: found.slice((page - 1) * ROWS, page * ROWS),
    count: found.length,
    page,
    pages,
    words,
    order,
    filter: (typed: string) => {
      setWords(typed)
      setPage(1)
    },
    orderBy: (by: typeof order.by) => {
      setOrder((before) => ({ by, descending: before.by === by ? !before.descending : by !== 'name' }))
      setPage(1)
    },
    turnTo: (to: number) => {
      setPage(to)
      document.querySelector('.folder')?.scrollIntoView()
    },
  }
}
