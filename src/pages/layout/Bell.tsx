import { unreadText } from '../../domain/notice.ts'
import { Outline } from '../../ui/Icon.tsx'
import { FRAME_ICONS } from './frame-icons.ts'

export type BellProps = {
  unread: number
  /** After how many ms a page looks again, because a server is about to end; null: it needn't. */
  lookIn: number | null
  /** The time of the newest notice in the list; empty if all are read. */
  newest?: string
}

/** A link to the notices. With script, it opens the latest ones in place: `src/islands/bell.ts`. */
export function Bell({ unread, lookIn, newest }: BellProps) {
  const label = unread ? `Notices, ${unreadText(unread)} unread` : 'Notices'
  return (
    <>
      <a
        className="btn bell"
        href="/notices"
        aria-label={label}
        data-unread={unread}
        data-look={lookIn ?? undefined}
        data-newest={newest}
      >
        <Outline path={FRAME_ICONS.bell} size={18} />
        {unread ? <span className="count">{unreadText(unread)}</span> : null}
      </a>
      <section id="bell-list" className="menu bell-list" popover="auto" tabIndex={-1} aria-label="Latest notices" />
    </>
  )
}
