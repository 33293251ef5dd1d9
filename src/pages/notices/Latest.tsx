import type { Notice } from '../../domain/wire/events.ts'
import { Bell, type BellProps } from '../layout/Bell.tsx'
import { type Ending, EndingBanner } from '../layout/EndingBanner.tsx'
import { NoticeList } from './NoticeList.tsx'

type LatestProps = { bell: BellProps; notices: Notice[]; ending: Ending | null; csrfToken: string }

/** The parts of an open page that change: its script puts each in its place. */
export function Latest({ bell, notices, ending, csrfToken }: LatestProps) {
  return (
    <>
      <Bell {...bell} newest={(bell.unread && notices[0]?.at) || ''} />
      <div data-for="bell-list">
        <h2>Notices</h2>
        <NoticeList notices={notices} />
        <p className="row">
          <a href="/notices">All notices</a>
        </p>
      </div>
      <div data-for="ending">{ending ? <EndingBanner ending={ending} csrfToken={csrfToken} /> : null}</div>
    </>
  )
}
