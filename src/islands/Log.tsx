import { type UIEvent, useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { plainText } from '../domain/ansi.ts'
import type { LogLine } from '../domain/run-log.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { useHydrated } from '../ui/useHydrated.ts'
import { LogRow } from './log/LogRow.tsx'
import { type LogState, useLog } from './log/useLog.ts'

export type LogProps = {
  runId: string
  /** Whether its machine may still say something. */
  live: boolean
  /** Its last lines when the page was rendered; null if they couldn't be read. */
  last: LogLine[] | null
  csrfToken: string
}

/** Rows on the page at once: more would make scrolling slow. */
const WINDOW = 1_000
/** Closer to the end than this, the reader wants to follow. */
const AT_END_PX = 40

const STATES: Record<LogState, string> = {
  connecting: 'Opening the log…',
  asking: 'Asking the machine…',
  live: 'Live',
  lost: 'Connection lost. Reconnecting…',
  over: 'Complete',
  waiting: 'Waiting to open the log…',
  refused: "We can't follow the log right now. Reload the page to try again.",
}

/** Everything that a run's program printed, and what its machine did with it. */
export function Log({ runId, live, last, csrfToken }: LogProps) {
  const { lines, state } = useLog(runId, last ?? [])
  const hydrated = useHydrated()
  const [search, setSearch] = useState('')
  const [wraps, setWraps] = useState(true)
  const [follows, setFollows] = useState(true)
  /** The rows shown end here; null: at the log's end. */
  const [end, setEnd] = useState<number | null>(null)
  const [size, setSize] = useState(WINDOW)
  const scroller = useRef<HTMLElement>(null)
  const wanted = useDeferredValue(search.trim().toLowerCase())
  const found = useMemo(
    () => (wanted ? lines.filter(({ text }) => plainText(text).toLowerCase().includes(wanted)) : lines),
    [lines, wanted],
  )
  const until = Math.min(end ?? found.length, found.length)
  const from = Math.max(0, until - size)
  const rows = found.slice(from, until)

  useLayoutEffect(() => {
    if (follows && scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight
  }, [rows.at(-1)?.n, follows, wraps])

  // A link to a line: show it once it is there.
  const linked = useRef(hydrated ? null : linkedLine())
  useEffect(() => {
    const n = linked.current
    const at = n === null ? -1 : found.findIndex((line) => line.n >= n)
    if (at < 0) return
    setFollows(false)
    setEnd(at + WINDOW / 2)
  }, [found.length])
  useEffect(() => {
    const row = linked.current === null || follows ? null : document.getElementById(`L${linked.current}`)
    if (!row) return
    row.scrollIntoView({ block: 'center' })
    row.dataset.linked = 'true'
    linked.current = null
  }, [end, rows.length])

  const toEnd = () => {
    setEnd(null)
    setSize(WINDOW)
    setFollows(true)
  }
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent<HTMLElement>) => {
    const isAtEnd = scrollHeight - scrollTop - clientHeight < AT_END_PX
    if (isAtEnd !== follows && (end === null || !isAtEnd)) setFollows(isAtEnd)
  }

  return (
    <section className="card log" id="log" aria-labelledby="log-title">
      <div className="card-head">
        <h2 id="log-title">Log</h2>
        <span className="hint">{live || state !== 'over' ? (hydrated ? STATES[state] : null) : STATES.over}</span>
      </div>
      {hydrated && lines.length ? (
        <div className="row log-tools no-print">
          <input
            className="input"
            type="search"
            aria-label="Search the log"
            placeholder="Search"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
          <span className="hint" role="status">
            {wanted ? foundText(found.length) : null}
          </span>
          <label className="choice">
            <input type="checkbox" checked={wraps} onChange={({ target }) => setWraps(target.checked)} />
            Wrap lines
          </label>
          <label className="choice">
            <input
              type="checkbox"
              checked={follows}
              onChange={({ target }) => (target.checked ? toEnd() : setFollows(false))}
            />
            Follow
          </label>
          <Button small onClick={toEnd}>
            Jump to the end
          </Button>
        </div>
      ) : null}
      {rows.length ? (
        <section
          className="log-lines"
          ref={scroller}
          onScroll={onScroll}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it.
          tabIndex={0}
          aria-label="Lines of the log"
          data-wraps={wraps}
        >
          {from > 0 ? (
            <Button small onClick={() => setSize(size + WINDOW)}>
              Show earlier lines
            </Button>
          ) : null}
          {rows.map((line) => (
            <LogRow key={line.n} line={line} local={hydrated} />
          ))}
          {until < found.length ? (
            <Button small onClick={() => setEnd(until + WINDOW)}>
              Show later lines
            </Button>
          ) : null}
        </section>
      ) : (
        <p className="hint">{emptyText(last, wanted, live)}</p>
      )}
      <div className="row no-print">
        {lines.length ? (
          <>
            <ButtonLink small href={`/servers/${runId}/log.txt`} download>
              Download
            </ButtonLink>
            <details className="fold">
              <summary>Delete the log</summary>
              <form method="post" action={`/api/v1/servers/${runId}/log`}>
                <HiddenFields csrfToken={csrfToken} method="delete" />
                <p>
                  {live
                    ? 'This deletes every line so far. New lines are kept.'
                    : 'This deletes every line. You can’t undo this.'}
                </p>
                <Button type="submit" small look="danger">
                  Delete the log
                </Button>
              </form>
            </details>
          </>
        ) : null}
      </div>
    </section>
  )
}

function linkedLine(): number | null {
  const [, n] = (typeof location === 'object' && /^#L(\d+)$/.exec(location.hash)) || []
  return n === undefined ? null : Number(n)
}

const foundText = (count: number) => (count === 1 ? '1 line' : `${count.toLocaleString('en-US')} lines`)

function emptyText(last: LogLine[] | null, wanted: string, live: boolean): string {
  if (wanted) return 'No lines match.'
  if (last === null) return "We can't read the log right now. Reload the page to try again."
  return live ? 'Nothing yet.' : 'No log: the machine sent nothing, or the log was deleted. We keep logs for 30 days.'
}
