import { Line as LineIsland, type LineProps } from '../islands/Line.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage, refusedField } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'
import { Island } from './Island.tsx'

type Props = LineProps & {
  flash: FlashMessage | null
  groups: { name: string; gpus: number; places: number; from: string; until: string; isOn: boolean }[]
  takesCode: boolean
}

/** Where people wait for a server while all are reserved. */
export function Line({ flash, groups, takesCode, ...props }: Props) {
  return (
    <div className="page stack line-page">
      <div className="page-head">
        <h1>Line</h1>
      </div>
      <FlashAlert flash={flash} />
      {groups.map((group) => (
        <GroupCard key={group.name + group.from} {...group} />
      ))}
      <Island name="Line" of={LineIsland} props={props} />
      {takesCode && !props.hasServer && props.line?.position !== 0 ? (
        <CodeForm csrfToken={props.csrfToken} chosen={props.chosen} flash={flash} />
      ) : null}
    </div>
  )
}

/** What an operator holds back for a group that they are in. */
function GroupCard({ name, gpus, places, from, until, isOn }: Props['groups'][number]) {
  return (
    <Card title={name}>
      <p>
        You’re in this group. We hold {places === 1 ? '1 server' : `${places} servers`} with {gpus}&nbsp;× L4 for its
        people{' '}
        {isOn ? null : (
          <>
            from <Time at={from} />{' '}
          </>
        )}
        until <Time at={until} />.
        {isOn ? (
          <>
            {' '}
            <a href="/dashboard">Start yours on the dashboard.</a>
          </>
        ) : null}
      </p>
    </Card>
  )
}

/** Starts a server in a place that is held back for a class or a competition. */
function CodeForm({ csrfToken, chosen, flash }: Pick<Props, 'csrfToken' | 'chosen' | 'flash'>) {
  return (
    <Card title="Have a code?">
      <form className="stack" method="post" action="/api/v1/aws/auto_cloud_start_request">
        <HiddenFields csrfToken={csrfToken} values={chosen} />
        <Field
          {...refusedField(flash, 'code')}
          label="Code"
          hint="From your class or competition, if we hold servers for it."
          placeholder="BCDF-GHJK"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          required
        />
        <div className="row">
          <Button type="submit">Start with this code</Button>
        </div>
      </form>
    </Card>
  )
}
