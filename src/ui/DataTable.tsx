import type { ReactNode } from 'react'

export type Column = {
  key: string
  label: string
  /** Right-aligned, in the instrument font. */
  numeric?: boolean
  /** On a phone, it stays in the row's first line: see lead-rows.css. */
  lead?: boolean
  /** The cell that names its row (`<th scope="row">`). One per table. */
  rowHeader?: boolean
}

export type Row = { id: string; cells: Record<string, ReactNode> }

type DataTableProps = {
  caption: string
  columns: Column[]
  rows: Row[]
  /** The last row, e.g. a total, keyed like the cells; the first column is its header. */
  foot?: Record<string, ReactNode>
  hideCaption?: boolean
}

/** Where space is tight, rows become cards that label each value with its column. */
export function DataTable({ caption, columns, rows, foot, hideCaption = false }: DataTableProps) {
  const cell = ({ key, label, numeric, lead }: Column, value: ReactNode, header: boolean) => {
    const rest = { 'data-label': label, 'data-lead': lead, className: numeric ? 'num' : undefined }
    return header ? (
      <th key={key} scope="row" {...rest}>
        {value}
      </th>
    ) : (
      <td key={key} {...rest}>
        {value}
      </td>
    )
  }
  return (
    <table className="table">
      <caption className={hideCaption ? 'visually-hidden' : undefined}>{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ key, label, numeric }) => (
            <th key={key} scope="col" className={numeric ? 'num' : undefined}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            {columns.map((column) => cell(column, row.cells[column.key], column.rowHeader ?? false))}
          </tr>
        ))}
      </tbody>
      {foot ? (
        <tfoot>
          <tr>{columns.map((column, i) => cell(column, foot[column.key], i === 0))}</tr>
        </tfoot>
      ) : null}
    </table>
  )
}
