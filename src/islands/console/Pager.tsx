import { type InstancePage, type InstanceView, ROWS_A_PAGE } from '../../domain/instance-view.ts'
import { type OnView, ViewLink } from './ViewLink.tsx'

/** The rows on screen, and links to the previous and next page. */
export function Pager({ shown, view, onView }: { shown: InstancePage; view: InstanceView; onView: OnView }) {
  const { page, found, instances } = shown
  const from = (page - 1) * ROWS_A_PAGE
  const rows = [from + 1, from + instances.length, found].map((count) => count.toLocaleString('en-US'))
  return (
    <nav className="row" aria-label="Pages">
      <span className="hint">{`Rows ${rows[0]}–${rows[1]} of ${rows[2]}`}</span>
      {page > 1 ? (
        <ViewLink to={{ ...view, page: page - 1 }} onView={onView} rel="prev">
          Previous
        </ViewLink>
      ) : null}
      {from + instances.length < found ? (
        <ViewLink to={{ ...view, page: page + 1 }} onView={onView} rel="next">
          Next
        </ViewLink>
      ) : null}
    </nav>
  )
}
