const day: Intl.DateTimeFormatOptions = { timeZone: 'UTC', year: 'numeric', month: 'short', day: 'numeric' }
const dateFormat = new Intl.DateTimeFormat('en-US', day)
const timeFormat = new Intl.DateTimeFormat('en-US', { ...day, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** An instant in UTC, from ISO 8601; a bare date (YYYY-MM-DD) is shown without a time. */
export function Time({ at }: { at: string }) {
  const bare = at.length === 10
  const date = new Date(at)
  return (
    <time dateTime={at} title={bare ? `${at} (UTC)` : `${date.toISOString()}`}>
      {bare ? dateFormat.format(date) : `${timeFormat.format(date)} UTC`}
    </time>
  )
}
