import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'
import { FormPage } from './account/FormPage.tsx'

type StopByLinkProps = {
  csrfToken: string
  flash: FlashMessage | null
  link: { id: string; key: string }
  /** What is wrong with the link. */
  fault?: string
  run?: { isLive: boolean; name: string | null; since: string | null }
}

/** One button, for people who come from the email and may not be signed in. */
export function StopByLink({ csrfToken, flash, link, fault, run }: StopByLinkProps) {
  return (
    <FormPage title="Stop your server" foot={<a href="/dashboard">Go to your dashboard</a>}>
      <FlashAlert flash={flash} />
      {fault ? <Alert kind="danger">{fault}</Alert> : null}
      {run?.isLive ? (
        <form className="stack" data-enhance="times" method="post" action={`/servers/${link.id}/stop`}>
          <HiddenFields csrfToken={csrfToken} values={{ key: link.key }} />
          <p>
            {run.name ? <bdi>{run.name}</bdi> : 'Your server'} has been running
            {run.since ? (
              <>
                {' '}
                since <Time at={run.since} />
              </>
            ) : null}
            . Its disk is erased when it stops.
          </p>
          <Button type="submit" look="danger">
            Stop the server
          </Button>
          <p className="hint">You pay nothing from then on.</p>
        </form>
      ) : run ? (
        <p>This server has stopped, so this link no longer works.</p>
      ) : null}
    </FormPage>
  )
}
