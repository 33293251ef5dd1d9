import type { MouseEvent } from 'react'
import { sizeText } from '../../domain/files.ts'
import { Outline } from '../../ui/Icon.tsx'
import { TimeIn } from '../../ui/Time.tsx'
import { type Entry, type EntryOrder, linkToContent, pageOfFolder, pageThatAsks, shownName } from './entries.ts'
import { FILE_ICONS, type FileIcon } from './icons.ts'
import { previewKind } from './preview-kind.ts'

/** What a row can do once the script runs. Until then, its links lead to pages that do the same. */
export type RowActs = {
  onOpen: (path: string) => void
  onPreview: (entry: Entry) => void
  onArchive: (entry: Entry) => void
  onDelete: (entry: Entry) => void
}

type Props = {
  /** The folder they are in. */
  path: string
  rows: Entry[]
  order: EntryOrder
  local: boolean
  /** Null: the script isn't running yet. */
  acts: RowActs | null
  onOrder: ((by: EntryOrder['by']) => void) | null
}

const COLUMNS = [
  { by: 'name', label: 'Name' },
  { by: 'size', label: 'Size' },
  { by: 'modified', label: 'Modified' },
] as const

export function FileTable({ rows, order, onOrder, ...shared }: Props) {
  return (
    <table className="files">
      <caption className="visually-hidden">Files and folders</caption>
      <thead>
        <tr>
          {COLUMNS.map(({ by, label }) => {
            const sorted = order.by === by ? (order.descending ? 'descending' : 'ascending') : undefined
            return (
              <th key={by} scope="col" aria-sort={sorted}>
                {onOrder ? (
                  <button type="button" className="btn-text sort" onClick={() => onOrder(by)}>
                    {label}
                  </button>
                ) : (
                  label
                )}
              </th>
            )
          })}
          <th scope="col" className="no-print">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((entry) => (
          <Row key={`${entry.isFolder} ${entry.name}`} entry={entry} {...shared} />
        ))}
      </tbody>
    </table>
  )
}

function iconOf(entry: Entry): FileIcon {
  if (entry.isFolder) return 'folder'
  const kind = previewKind(entry.name, entry.size)
  return kind === 'video' ? 'film' : kind === 'image' || kind === 'drawing' ? 'image' : 'file'
}

function Row({ path, entry, local, acts }: { entry: Entry } & Omit<Props, 'rows' | 'order' | 'onOrder'>) {
  const name = shownName(entry.name)
  return (
    <tr>
      <th scope="row">
        <Outline path={FILE_ICONS[iconOf(entry)]} size={18} />
        <Name entry={entry} acts={acts} />
      </th>
      <td>{entry.isFolder ? '' : sizeText(entry.size)}</td>
      <td>{entry.isFolder ? '' : <TimeIn at={entry.modifiedAt} local={local} />}</td>
      <td className="row-acts no-print">
        <Download entry={entry} acts={acts} />
        <a
          className="btn btn-plain"
          href={pageThatAsks(path, entry)}
          aria-label={`Delete ${entry.isFolder ? 'folder ' : ''}${name}`}
          title="Delete"
          onClick={instead(acts && (() => acts.onDelete(entry)))}
        >
          <Outline path={FILE_ICONS.trash} />
        </a>
      </td>
    </tr>
  )
}

/** A folder is saved as an archive, which needs script. */
function Download({ entry, acts }: { entry: Entry; acts: RowActs | null }) {
  const name = shownName(entry.name)
  const icon = <Outline path={FILE_ICONS.download} />
  if (!entry.isFolder)
    return entry.isAddressable ? (
      <a className="btn btn-plain" href={linkToContent(entry.path)} aria-label={`Download ${name}`} title="Download">
        {icon}
      </a>
    ) : null
  if (!acts) return null
  const label = `Download ${name} as an archive`
  return (
    <button
      type="button"
      className="btn btn-plain"
      aria-label={label}
      title={label}
      onClick={() => acts.onArchive(entry)}
    >
      {icon}
    </button>
  )
}

/** Names may be in any script, and may look like code: we only ever show them as text, in their own direction. */
function Name({ entry, acts }: { entry: Entry; acts: RowActs | null }) {
  const text = <bdi>{shownName(entry.name)}</bdi>
  if (entry.isFolder)
    return (
      <a href={pageOfFolder(entry.path)} onClick={instead(acts && (() => acts.onOpen(entry.path)))}>
        {text}
      </a>
    )
  if (!entry.isAddressable)
    return (
      <span>
        {text} <a href="/docs/cli#dots">Only programs can fetch it</a>
      </span>
    )
  if (!acts) return <a href={linkToContent(entry.path)}>{text}</a>
  if (previewKind(entry.name, entry.size) === null) return <span>{text}</span>
  return (
    <button type="button" className="btn-text" onClick={() => acts.onPreview(entry)}>
      {text}
    </button>
  )
}

/** What a link does with script. With a modifier key, it opens like any link. */
function instead(act: (() => void) | null) {
  return (event: MouseEvent) => {
    if (!act || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    act()
  }
}
