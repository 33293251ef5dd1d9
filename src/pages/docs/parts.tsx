import type { ReactNode } from 'react'
import { DataTable } from '../../ui/DataTable.tsx'

/** The documentation's pages, in reading order. */
const DOCS = [
  { path: '/docs', label: 'Quickstart' },
  { path: '/docs/api', label: 'API' },
  { path: '/docs/events', label: 'Events' },
  { path: '/docs/cli', label: 'Command line' },
  { path: '/docs/ci', label: 'CI' },
  { path: '/docs/billing', label: 'Billing' },
  { path: '/docs/images', label: 'Servers' },
  { path: '/docs/ports', label: 'Ports' },
] as const

type DocPath = (typeof DOCS)[number]['path']

type DocProps = { path: DocPath; title: string; lead: ReactNode; children: ReactNode }

/** A documentation page, with links to all the others. */
export function Doc({ path, title, lead, children }: DocProps) {
  return (
    <div className="page docs">
      <nav aria-label="Documentation">
        <ul className="links">
          {DOCS.map((doc) => (
            <li key={doc.path}>
              <a href={doc.path} aria-current={doc.path === path ? 'page' : undefined}>
                {doc.label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <article className="prose">
        <h1>{title}</h1>
        <p className="lead">{lead}</p>
        {children}
      </article>
    </div>
  )
}

/** A heading you can link to. */
export function Heading({ id, children }: { id: string; children: ReactNode }) {
  return (
    <h2 id={id}>
      <a href={`#${id}`}>{children}</a>
    </h2>
  )
}

/**
 * Code to copy. `run` names the example: a test runs all that have one. Long lines scroll, with the keyboard as well.
 */
export function Code({ children, run }: { children: string; run?: string }) {
  return (
    <div className="copyable">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: only a focused region scrolls with the keyboard */}
      <pre className="code" tabIndex={0} data-run={run}>
        <code>{children}</code>
      </pre>
    </div>
  )
}

type RowsProps = { caption: string; head: string[]; rows: [ReactNode, ...ReactNode[]][] }

/** A table whose first column names its rows. */
export function Rows({ caption, head, rows }: RowsProps) {
  const columns = head.map((label, i) => ({ key: label, label, rowHeader: i === 0 }))
  // On phones, a cell is a flex box: its words must stay one item.
  const cells = (row: ReactNode[]) =>
    Object.fromEntries(head.map((label, i) => [label, <span key={label}>{row[i]}</span>]))
  return (
    <DataTable
      caption={caption}
      hideCaption
      columns={columns}
      rows={rows.map((row, i) => ({ id: String(i), cells: cells(row) }))}
    />
  )
}
