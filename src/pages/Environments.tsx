import { MAX_OWN_ENVIRONMENTS, OWN_NEEDS_PLAN } from '../domain/own-environment.ts'
import type { OwnEnvironment } from '../domain/wire.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { type Column, DataTable } from '../ui/DataTable.tsx'
import { Field } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage, refusedField } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'

const COLUMNS: Column[] = [
  { key: 'name', label: 'Name', rowHeader: true },
  { key: 'image', label: 'Image' },
  { key: 'pinned', label: 'Runs' },
  { key: 'added', label: 'Added' },
  { key: 'action', label: 'Actions' },
]

type EnvironmentsProps = {
  environments: OwnEnvironment[]
  /** Whether their plan includes Build Your Own. */
  included: boolean
  csrfToken: string
  flash: FlashMessage | null
}

export function Environments({ environments, included, csrfToken, flash }: EnvironmentsProps) {
  const rows = environments.map(({ name, image, digest, created_at }) => ({
    id: name,
    cells: {
      name,
      image: <span className="mono address">{image}</span>,
      pinned: digest ? 'The same image each time' : 'What its tag names at the start',
      added: created_at ? <Time at={created_at} layout="day" /> : '–',
      action: (
        <form method="post" action={`/api/v1/environments/${name}`}>
          <HiddenFields csrfToken={csrfToken} method="delete" />
          <Button type="submit" small aria-label={`Remove ${name}`}>
            Remove
          </Button>
        </form>
      ),
    },
  }))
  const typed = (name: string) => refusedField(flash, name)
  return (
    <div className="page stack">
      <div className="page-head">
        <h1>Build Your Own</h1>
      </div>
      <FlashAlert flash={flash} />
      <p>
        Run your own simulator: a server starts your container image instead of ours, with all its GPUs.{' '}
        <a href="/docs/images#own">What your image gets, and what it must do</a>
      </p>
      {!included && (
        <Alert kind="info">
          {OWN_NEEDS_PLAN} {environments.length > 0 && "Until then, your environments stay here and don't start. "}
          <a href="/subscriptions">See the plans</a>
        </Alert>
      )}
      <Card title="Your environments">
        {rows.length ? (
          <DataTable caption="Your environments" hideCaption columns={COLUMNS} rows={rows} />
        ) : (
          <p className="hint">No environments of your own yet.</p>
        )}
      </Card>
      {included &&
        (environments.length < MAX_OWN_ENVIRONMENTS ? (
          <Card title="New environment">
            <form className="stack form-narrow" method="post" action="/api/v1/environments" noValidate>
              <HiddenFields csrfToken={csrfToken} />
              <Field
                {...typed('name')}
                label="Name"
                required
                autoCapitalize="none"
                spellCheck={false}
                hint="Letters, digits, hyphens, and underscores, such as Harbor."
              />
              <Field
                {...typed('image')}
                label="Image"
                required
                autoCapitalize="none"
                spellCheck={false}
                hint="In a public registry, such as ghcr.io/you/harbor@sha256:…. With a digest, every start runs the same image; a tag can change."
              />
              <Button type="submit" look="primary">
                Add environment
              </Button>
            </form>
          </Card>
        ) : (
          <p className="hint">You have {MAX_OWN_ENVIRONMENTS} environments, the most an account can have.</p>
        ))}
      <p className="hint">
        <a href="/dashboard">Back to the dashboard</a>
      </p>
    </div>
  )
}
