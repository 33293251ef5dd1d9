import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'
import { FormPage } from './account/FormPage.tsx'

type ExtendServerProps = {
  csrfToken: string
  flash: FlashMessage | null
  link: { id: string; key: string }
  /** What is wrong with the link. */
  fault?: string
  ends?: Ends
}

type Ends = {
  isLive: boolean
  endsAt: string | null
  /** The end after one more click; null if it can't move. */
  next: string | null
  /** When a trial's minutes are used up; null outside a trial. */
  freeUntil: string | null
  /** A smaller plan ends it. */
  planEnds: boolean
}

/** One button, for people who come from the email and may not be signed in. */
export function ExtendServer({ csrfToken, flash, link, fault, ends }: ExtendServerProps) {
  return (
    <FormPage title="Keep your server" foot={<a href="/dashboard">Go to your dashboard</a>}>
      <FlashAlert flash={flash} />
      {fault ? <Alert kind="danger">{fault}</Alert> : null}
      {ends ? <p data-enhance="times">{sentence(ends)}</p> : null}
      {ends?.next && ends.endsAt ? (
        <form className="stack" data-enhance="times" method="post" action={`/servers/${link.id}/extend`}>
          <HiddenFields csrfToken={csrfToken} values={{ key: link.key, ends_at: ends.endsAt }} />
          <Button type="submit" look="primary">
            Add an hour
          </Button>
          <p className="hint">{after(ends.next, ends.freeUntil)}</p>
        </form>
      ) : null}
    </FormPage>
  )
}

function after(next: string, freeUntil: string | null) {
  if (freeUntil !== null && freeUntil < next)
    return (
      <>
        It then stops when your free minutes are used up, at <Time at={freeUntil} />.
      </>
    )
  return (
    <>
      It then stops at <Time at={next} />.{freeUntil === null ? ' You pay for the time it runs, as before.' : ''}
    </>
  )
}

function sentence({ isLive, endsAt, next, freeUntil, planEnds }: Ends) {
  if (!isLive) return 'This server has stopped, so this link no longer works.'
  if (!endsAt) return 'No end time is set. It runs until you stop it.'
  const isFreeFirst = freeUntil !== null && freeUntil <= endsAt
  const why = planEnds ? ' Your plan no longer includes it then.' : " It can't run longer than your free minutes."
  return (
    <>
      Your server stops at <Time at={isFreeFirst ? freeUntil : endsAt} />.{next ? '' : why}
    </>
  )
}
