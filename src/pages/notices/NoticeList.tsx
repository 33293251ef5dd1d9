import type { Notice } from '../../domain/wire/events.ts'
import { Button } from '../../ui/Button.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Time } from '../../ui/Time.tsx'
import { TimesText } from '../../ui/TimesText.tsx'

/** What happened, newest first. */
export function NoticeList({ notices }: { notices: Notice[] }) {
  if (!notices.length) return <p className="hint">Nothing yet. News about your servers and bills appears here.</p>
  return (
    <ul className="notice-list">
      {notices.map((notice) => (
        <li key={notice.id} className={notice.read ? undefined : 'unread'}>
          <p>
            {notice.read ? null : <span className="visually-hidden">Unread: </span>}
            <strong>{notice.title}</strong>
          </p>
          <p>
            <TimesText>{notice.text}</TimesText>
          </p>
          <p className="hint">
            <Time at={notice.at} />
            {notice.link ? (
              <>
                {' · '}
                <a href={notice.link}>{notice.label}</a>
              </>
            ) : null}
          </p>
        </li>
      ))}
    </ul>
  )
}

/** @param until the newest notice that the page shows: later ones stay unread */
export function MarkRead({ until, csrfToken }: { until: string | undefined; csrfToken: string }) {
  return (
    <form method="post" action="/api/v1/notices/read">
      <HiddenFields csrfToken={csrfToken} values={{ until: until ?? '' }} />
      <Button type="submit" small>
        Mark all as read
      </Button>
    </form>
  )
}
