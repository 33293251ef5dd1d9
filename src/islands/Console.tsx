import { useDeferredValue, useMemo, useState } from 'react'
import { fleetFigures, type LoadError } from '../domain/instance.ts'
import { type InstanceView, instanceViewPath, viewInstances } from '../domain/instance-view.ts'
import { MINUTE_MS } from '../domain/instant.ts'
import { dollars } from '../domain/money/money.ts'
import type { Instance } from '../domain/wire.ts'
import { Button } from '../ui/Button.tsx'
import { DefinitionStats } from '../ui/DefinitionStats.tsx'
import { EmptyState, ErrorState } from '../ui/States.tsx'
import { TimeIn } from '../ui/Time.tsx'
import { useHydrated } from '../ui/useHydrated.ts'
import { FilterForm } from './console/FilterForm.tsx'
import { InstanceTable } from './console/InstanceTable.tsx'
import { useInstances } from './console/useInstances.ts'
import { usePoll } from './usePoll.ts'

export type ConsoleProps = {
  now: number
  /** Null if they failed to load. */
  instances: Instance[] | null
  error: LoadError | null
  view: InstanceView
}

const EVERY_MS = MINUTE_MS
const VIEW_FORM = 'console-view'

export function Console(props: ConsoleProps) {
  const local = useHydrated()
  const { instances, updatedAt, error, loading, refresh } = useInstances(props)
  const [view, setView] = useState(props.view)
  usePoll(refresh, EVERY_MS)
  // Typing stays fast while thousands of rows re-render.
  const seen = useDeferredValue(view)
  const now = updatedAt ?? props.now
  const shown = useMemo(() => viewInstances(instances, seen, now), [instances, seen, now])
  const show = (next: InstanceView) => {
    setView(next)
    history.replaceState(history.state, '', instanceViewPath(next))
  }
  const figures = fleetFigures(instances)
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
      {updatedAt === null ? null : (
        <DefinitionStats
          stats={[
            { label: 'Running', value: figures.running, hint: `of ${instances.length} instances` },
            { label: 'Starting or stopping', value: figures.changing },
            { label: 'Impaired', value: figures.unwell },
            { label: 'Cost so far', value: dollars(figures.dollars), hint: 'at list price' },
          ]}
        />
      )}
      <FilterForm
        id={VIEW_FORM}
        view={view}
        found={instances.length ? `${shown.length} of ${instances.length}` : ''}
        onFilter={(filter) => show({ ...view, filter })}
        onRefresh={() => void refresh()}
      />
      {shown.length ? (
        <InstanceTable instances={shown} view={view} now={now} local={local} onView={show} />
      ) : instances.length ? (
        <EmptyState action={<a href={instanceViewPath({ ...view, filter: '' })}>Show all</a>}>
          No instances match this filter.
        </EmptyState>
      ) : updatedAt === null ? null : (
        <EmptyState>No instances found.</EmptyState>
      )}
    </>
  )
}
