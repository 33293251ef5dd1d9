import type { ReactNode } from 'react'
import { Alert } from '../../ui/Alert.tsx'
import { FlashAlert, type FlashMessage } from '../../ui/FlashAlert.tsx'
import { ConsoleTabs } from '../console/ConsoleTabs.tsx'

/** What a console page needs to act. */
export type Acting = {
  csrfToken: string
  /** Goes into each form, so that sending it twice acts once. */
  actId: string
  flash: FlashMessage | null
  /** Where to confirm who they are first; null if they just did. */
  confirmAt: string | null
}

type AdminPageProps = {
  here: Parameters<typeof ConsoleTabs>[0]['here'] | null
  title: string
  aside?: ReactNode
  acting?: Acting
  children: ReactNode
}

/** A form shows the answer to its question itself. */
const isFormsOwn = ({ kind, values }: FlashMessage) => kind === 'info' && values?.act_id !== undefined

/** The frame of the console's pages. */
export function AdminPage({ here, title, aside, acting, children }: AdminPageProps) {
  return (
    <div className="page page-wide console">
      <ConsoleTabs here={here} />
      <header className="page-head">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {aside}
      </header>
      <div className="stack">
        {acting?.flash && !isFormsOwn(acting.flash) ? <FlashAlert flash={acting.flash} /> : null}
        {acting?.confirmAt ? (
          <Alert kind="info">
            To act here, <a href={acting.confirmAt}>confirm it’s you</a>.
          </Alert>
        ) : null}
        {children}
      </div>
    </div>
  )
}
