import type { InstanceView } from '../../domain/instance-view.ts'

type Props = {
  id: string
  view: InstanceView
  /** How many instances are shown, such as `3 of 12`. */
  found: string
  onFilter: (filter: string) => void
  onRefresh: () => void
}

/** Filters as you type. Without scripts it is a form that reloads the page, as Refresh does. */
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
