import { sizeText } from '../../domain/files.ts'
import { Outline } from '../../ui/Icon.tsx'
import { TimeIn } from '../../ui/Time.tsx'
import { type Entry, type EntryOrder, linkToContent, pageOfFolder, pathIn } from './entries.ts'
import { FILE_ICONS, type FileIcon } from './icons.ts'
import { previewKind } from './preview-kind.ts'

/** What a row can do once the script runs. Until then, its links and buttons are plain. */
export type RowActs = {
  onOpen: (path: string) => void
  onPreview: (entry: Entry) => void
  onArchive: (name: string) => void
  onRename: (name: string) => void
  onDelete: (name: string) => void
}

type Props = {
  path: string
  rows: Entry[]
  order: EntryOrder
  local: boolean
  mayRename: boolean
  /** Null: the script isn't running yet. */
  acts: RowActs | null
  onOrder: ((by: EntryOrder['by']) => void) | null
}

export const ASK_FORM = 'ask'

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

function Row({ path, entry, local, mayRename, acts }: { entry: Entry } & Omit<Props, 'rows' | 'order' | 'onOrder'>) {
  const { name } = entry
  const here = pathIn(path, name)
  return (
    <tr>
      <th scope="row">
        <Outline path={FILE_ICONS[iconOf(entry)]} size={18} />
        <Name entry={entry} path={here} acts={acts} />
      </th>
      <td>{entry.isFolder ? '' : sizeText(entry.size)}</td>
      <td>{entry.isFolder ? '' : <TimeIn at={entry.modifiedAt} local={local} />}</td>
      <td className="row-acts no-print">
        {entry.isFolder ? (
          acts ? (
            <Act icon="download" label={`Download ${name} as an archive`} onClick={() => acts.onArchive(name)} />
          ) : null
        ) : (
          <a className="btn btn-plain" href={linkToContent(here)} aria-label={`Download ${name}`} title="Download">
            <Outline path={FILE_ICONS.download} />
          </a>
        )}
        {mayRename ? (
          <Act
            icon="rename"
            label={`Rename ${name}`}
            {...(acts ? { onClick: () => acts.onRename(name) } : { name: 'rename', value: name })}
          />
        ) : null}
        <Act
          icon="trash"
          label={`Delete ${name}`}
          {...(acts ? { onClick: () => acts.onDelete(name) } : { name: 'delete', value: name })}
        />
      </td>
    </tr>
  )
}

/** Names may be in any script, and may look like code: they are only ever text, in their own direction. */
function Name({ entry, path, acts }: { entry: Entry; path: string; acts: RowActs | null }) {
  const text = <bdi>{entry.name}</bdi>
  if (entry.isFolder)
    return (
      <a
        href={pageOfFolder(path)}
        onClick={(event) => {
          if (!acts || event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          acts.onOpen(path)
        }}
      >
        {text}
      </a>
    )
  if (!acts) return <a href={linkToContent(path)}>{text}</a>
  if (previewKind(entry.name, entry.size) === null) return <span>{text}</span>
  return (
    <button type="button" className="btn-text" onClick={() => acts.onPreview(entry)}>
      {text}
    </button>
  )
}

/** Without script, it asks for the page that asks. */
function Act({
  icon,
  label,
  ...rest
}: { icon: FileIcon; label: string } & ({ onClick: () => void } | { name: string; value: string })) {
  const kind = 'onClick' in rest ? ({ type: 'button' } as const) : ({ type: 'submit', form: ASK_FORM } as const)
  return (
    <button className="btn btn-plain" aria-label={label} title={label} {...kind} {...rest}>
      <Outline path={FILE_ICONS[icon]} />
    </button>
  )
}
