import { LISTED_NOTICES } from '../domain/notice.ts'
import { TRACE_DAYS } from '../domain/retention.ts'
import type { Notice } from '../domain/wire/events.ts'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { MarkRead, NoticeList } from './notices/NoticeList.tsx'

type NoticesProps = { notices: Notice[]; csrfToken: string; flash: FlashMessage | null }

export function Notices({ notices, csrfToken, flash }: NoticesProps) {
  return (
    <div className="page stack">
      <div className="page-head">
        <h1>Notices</h1>
        {notices.some(({ read }) => !read) ? <MarkRead until={notices[0]?.at} csrfToken={csrfToken} /> : null}
      </div>
      <FlashAlert flash={flash} />
      <div className="card">
        <NoticeList notices={notices} />
      </div>
      <p className="hint">
        {notices.length === LISTED_NOTICES ? `The latest ${LISTED_NOTICES}. ` : null}
        We keep notices for {TRACE_DAYS} days. <a href="/mails">Choose your emails</a>
      </p>
    </div>
  )
}
