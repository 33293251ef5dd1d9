import type { MouseEvent } from 'react'
import type { Server } from '../../domain/wire/fleet.ts'
import { HiddenFields } from '../../ui/HiddenFields.tsx'

export const FORM = 'by-form'

/** These buttons submit a plain form until the island hydrates, so no tap is lost and they work without scripts. */
export const START = { type: 'submit', form: FORM, formAction: '/api/v1/aws/auto_cloud_start_request' } as const
export const STOP = { type: 'submit', form: FORM, formAction: '/api/v1/aws/stop_server' } as const
/** Links to the page that asks for confirmation. */
export const ASK_TO_STOP = { type: 'submit', form: 'ask-to-stop' } as const

/** Once hydrated, a button acts without posting the form: the page stays. */
export const instead = (act: () => unknown) => (event: MouseEvent) => {
  event.preventDefault()
  void act()
}

/** What these buttons send. Nobody has more than one live server, so one form serves every row. */
export function ByForm({ csrfToken, live }: { csrfToken: string; live: Server | undefined }) {
  return (
    <>
      <form id={FORM} method="post" hidden>
        <HiddenFields csrfToken={csrfToken} values={live ? { server_id: live.server_id, session_id: live.id } : {}} />
      </form>
      <form id={ASK_TO_STOP.form} action="/stop_server" hidden />
    </>
  )
}
