import { useState } from 'react'
import type { LoadError } from '../domain/instance.ts'
import { type InstancePage, type InstanceView, instanceViewPath, NEWEST_FIRST } from '../domain/instance-view.ts'
import { MINUTE_MS } from '../domain/instant.ts'
import { Button } from '../ui/Button.tsx'
import { EmptyState, ErrorState } from '../ui/States.tsx'
import { TimeIn } from '../ui/Time.tsx'
import { useHydrated } from '../ui/useHydrated.ts'
import { FilterForm } from './console/FilterForm.tsx'
import { FleetTiles } from './console/FleetTiles.tsx'
import { InstanceTable } from './console/InstanceTable.tsx'
import { Pager } from './console/Pager.tsx'
import { useInstances } from './console/useInstances.ts'
import { usePoll } from './usePoll.ts'

export type ConsoleProps = {
  now: number
  /** Null if they failed to load. */
  shown: InstancePage | null
  error: LoadError | null
  view: InstanceView
}

const EVERY_MS = MINUTE_MS
/** While someone types, we search after each pause. */
const PAUSE_MS = 200
const VIEW_FORM = 'console-view'

export function Console(props: ConsoleProps) {
  const local = useHydrated()
  const [view, setView] = useState(props.view)
  const { shown, updatedAt, error, loading, load } = useInstances(props)
  usePoll((signal) => load(view, { signal }), EVERY_MS)
  const now = updatedAt ?? props.now
  const show = (next: InstanceView, afterMs = 0) => {
    setView(next)
    history.replaceState(history.state, '', instanceViewPath(next))
    void load(next, { afterMs })
  }
  return (
    <>
      <header className="page-head">
        <h1>Console</h1>
        <div className="row">
          <span className="hint" role="status">
            {updatedAt === null ? null : (
              <>
                Updated <TimeIn at={new Date(updatedAt).toISOString()} layout="clock" local={local} />
              </>
            )}
          </span>
          <Button type="submit" form={VIEW_FORM} aria-busy={loading}>
            Refresh
          </Button>
        </div>
      </header>
      {error ? (
        <ErrorState action={updatedAt === null ? null : <span className="hint">Showing the last known data.</span>}>
          {`Error: ${error.message}`}
        </ErrorState>
      ) : null}
      {error?.reason ? <p className="hint">{error.reason}</p> : null}
      {shown ? <FleetTiles figures={shown.figures} view={view} onView={show} /> : null}
      <FilterForm
        id={VIEW_FORM}
        view={view}
        found={shown?.figures.all ? `${grouped(shown.found)} of ${grouped(shown.figures.all)}` : ''}
        onFilter={(filter) => show({ ...view, filter, page: 1 }, PAUSE_MS)}
        onRefresh={() => void load(view)}
      />
      {shown?.instances.length ? (
        <>
          <InstanceTable instances={shown.instances} view={view} now={now} local={local} onView={show} />
          <Pager shown={shown} view={view} onView={show} />
        </>
      ) : shown?.figures.all ? (
        <EmptyState
          action={<a href={instanceViewPath({ ...NEWEST_FIRST, sort: view.sort, order: view.order })}>Show all</a>}
        >
          No instances match this filter.
        </EmptyState>
      ) : shown ? (
        <EmptyState>No instances found.</EmptyState>
      ) : null}
    </>
  )
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}
