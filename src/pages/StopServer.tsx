import type { Summary } from '../domain/wire/billing.ts'
import type { Server } from '../domain/wire/fleet.ts'
import { erasedText, ranSoFar, STOP_QUESTION } from '../islands/dashboard/StopDialog.tsx'
import { Button } from '../ui/Button.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { FormPage } from './account/FormPage.tsx'

type Props = { csrfToken: string; server: Server; summary: Summary; now: number; filesStay: boolean }

/** The dashboard's question before a stop, for browsers without scripts. */
export function StopServer({ csrfToken, server, summary, now, filesStay }: Props) {
  return (
    <FormPage title={STOP_QUESTION} foot={<a href="/dashboard">Keep running</a>}>
      <p>{ranSoFar({ server, summary, now })}</p>
      <p>{erasedText(filesStay)}</p>
      <form method="post" action="/api/v1/aws/stop_server">
        <HiddenFields csrfToken={csrfToken} values={{ server_id: server.server_id, session_id: server.id }} />
        <Button type="submit" look="danger">
          Stop server
        </Button>
      </form>
    </FormPage>
  )
}
