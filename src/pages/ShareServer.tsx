import { GUEST_HOURS } from '../domain/door.ts'
import type { Guest } from '../domain/wire/door.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { Field } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage, refusedField } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Secret } from '../ui/Secret.tsx'
import { Time } from '../ui/Time.tsx'
import { WhoMayEnter } from '../ui/WhoMayEnter.tsx'
import { DoorPage, type DoorPageProps } from './run/DoorPage.tsx'

type Props = DoorPageProps & {
  guests: Guest[]
  /** The link that was just made: only this page ever shows it. */
  made: { url: string; expires_at: string } | null
  now: number
  csrfToken: string
  flash: FlashMessage | null
}

/** Who can get in, and links that let guests in for some hours. */
export function ShareServer({ run, guests, made, now, csrfToken, flash }: Props) {
  const calls = `/api/v1/servers/${run.id}/guests`
  return (
    <DoorPage title="Share your server" run={run}>
      {made ? (
        <Alert kind="success" takesFocus>
          Send this link to your guest. Copy it now: we won't show it again. It works until{' '}
          <Time at={made.expires_at} />, or until the server stops.
          <Secret>{made.url}</Secret>
        </Alert>
      ) : (
        <FlashAlert flash={flash} />
      )}
      <p>
        <WhoMayEnter untils={guests.map(({ expires_at }) => expires_at)} now={now} />
      </p>
      {guests.length ? (
        <ul className="plain-list guests">
          {guests.map((guest) => (
            <li key={guest.id}>
              <span>
                Until <Time at={guest.expires_at} />
                <small className="hint">{usesOf(guest)}</small>
              </span>
              <form method="post" action={`${calls}/${guest.id}`}>
                <HiddenFields csrfToken={csrfToken} method="delete" />
                <Button type="submit" small>
                  Remove
                </Button>
              </form>
            </li>
          ))}
        </ul>
      ) : null}
      <form className="stack form-narrow" method="post" action={calls}>
        <HiddenFields csrfToken={csrfToken} />
        <Field
          {...refusedField(flash, 'hours')}
          label="Hours"
          type="number"
          min={GUEST_HOURS.least}
          max={GUEST_HOURS.most}
          required
          defaultValue={flash?.values?.hours ?? 4}
          hint={`From ${GUEST_HOURS.least} to ${GUEST_HOURS.most}. A link ends earlier if the server stops.`}
        />
        <div className="row">
          <Button type="submit" look="primary">
            Make a link
          </Button>
        </div>
      </form>
      <p className="hint">
        Anyone who has a link can open the simulator with it, without an account. They can't stop the server or see your
        account. If you remove a link, its guests lose access right away. A link also opens the{' '}
        <a href="/docs/ports#pictures">other ports</a>.
      </p>
    </DoorPage>
  )
}

/** Browsers, not people, because one person may use several. */
function usesOf({ uses, last_used_at }: Guest) {
  if (!uses || !last_used_at) return 'Not used yet'
  return (
    <>
      Used by {uses === 1 ? 'one browser' : `${uses} browsers`}, last at <Time at={last_used_at} />
    </>
  )
}
