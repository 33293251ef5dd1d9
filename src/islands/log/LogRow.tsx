import { type MouseEvent, memo } from 'react'
import { styledText } from '../../domain/ansi.ts'
import type { LogLine } from '../../domain/run-log.ts'
import { TimeIn } from '../../ui/Time.tsx'
import { announce } from '../announce.ts'

/** A line, with a link to it. */
export const LogRow = memo(function LogRow({
  line: { n, at, source, text },
  local,
}: {
  line: LogLine
  local: boolean
}) {
  return (
    <div className="log-line" id={`L${n}`} data-source={source}>
      <a href={`#L${n}`} aria-label={`Link to line ${n}`} onClick={copyLink}>
        {n}
      </a>
      <TimeIn at={at} layout="clock" local={local} />
      <span dir="auto">
        {styledText(text).map(({ text: piece, style }, i) =>
          style ? (
            <span key={i} className={style}>
              {piece}
            </span>
          ) : (
            piece
          ),
        )}
      </span>
    </div>
  )
})

/** Also changes the address, for people whose browser can't copy. */
function copyLink({ currentTarget }: MouseEvent<HTMLAnchorElement>): void {
  void navigator.clipboard?.writeText(currentTarget.href).then(
    () => announce('Link copied.'),
    () => {},
  )
}
