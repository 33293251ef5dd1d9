import { Button, ButtonLink } from '../../ui/Button.tsx'
import { pageOfFolder, ROWS } from './entries.ts'

type Props = {
  count: number
  page: number
  pages: number
  loading: boolean
  onPage: ((page: number) => void) | null
  /** Without script, the server's pages. */
  plain: { path: string; after: string | null; next: string | null }
}

export function Pager({ count, page, pages, loading, onPage, plain }: Props) {
  if (!onPage) {
    if (!plain.next && !plain.after) return null
    const first = pageOfFolder(plain.path)
    const next = plain.next && `${first}${first.includes('?') ? '&' : '?'}after=${encodeURIComponent(plain.next)}`
    return (
      <nav className="row no-print" aria-label="Pages">
        {plain.after ? <ButtonLink href={first}>First page</ButtonLink> : null}
        {next ? (
          <ButtonLink href={next} rel="next">
            Next page
          </ButtonLink>
        ) : null}
      </nav>
    )
  }
  const number = (n: number) => n.toLocaleString('en-US')
  return (
    <nav className="row" aria-label="Pages">
      <span className={count ? 'hint' : 'visually-hidden'} role="status">
        {loading
          ? `Reading names: ${number(count)} so far`
          : pages > 1
            ? `${number((page - 1) * ROWS + 1)}–${number(Math.min(count, page * ROWS))} of ${number(count)}`
            : `${number(count)} ${count === 1 ? 'item' : 'items'}`}
      </span>
      {pages > 1 ? (
        <>
          <Button small disabled={page === 1} onClick={() => onPage(page - 1)}>
            Previous
          </Button>
          <Button small disabled={page === pages} onClick={() => onPage(page + 1)}>
            Next
          </Button>
        </>
      ) : null}
    </nav>
  )
}
