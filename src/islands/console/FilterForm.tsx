import type { InstanceView } from '../../domain/instance-view.ts'

type Props = {
  id: string
  view: InstanceView
  /** How many of how many are shown. */
  found: string
  onFilter: (filter: string) => void
  onRefresh: () => void
}

/** Filters as one types; without scripts it is a form that asks for the page anew, which is what Refresh does. */
export function FilterForm({ id, view, found, onFilter, onRefresh }: Props) {
  return (
    <form
      id={id}
      className="filter"
      action="/console"
      onSubmit={(event) => {
        event.preventDefault()
        onRefresh()
      }}
    >
      <label htmlFor="filter">Filter</label>
      <input
        id="filter"
        className="input"
        type="search"
        name="q"
        autoComplete="off"
        placeholder="running g6 ada@"
        value={view.filter}
        onChange={(event) => onFilter(event.target.value)}
      />
      <input type="hidden" name="sort" value={view.sort} />
      <input type="hidden" name="order" value={view.order} />
      <output htmlFor="filter">{found}</output>
    </form>
  )
}
