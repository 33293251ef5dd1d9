import { MAX_OWN_ENVIRONMENTS, OWN_NEEDS_PLAN } from '../../domain/own-environment.ts'
import type { OwnEnvironment } from '../../domain/wire/fleet.ts'
import { Alert } from '../../ui/Alert.tsx'
import type { Column } from '../../ui/DataTable.tsx'
import { Field } from '../../ui/Field.tsx'
import { type FlashMessage, refusedField } from '../../ui/FlashAlert.tsx'
import { Time } from '../../ui/Time.tsx'
import { ListSection, Remove } from './ListSection.tsx'

const COLUMNS: Column[] = [
  { key: 'name', label: 'Name', rowHeader: true },
  { key: 'image', label: 'Image' },
  { key: 'pinned', label: 'Runs' },
  { key: 'added', label: 'Added' },
  { key: 'action', label: 'Actions', lead: true },
]

const ID = 'environments'

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
      action: <Remove name={name} action={`/api/v1/environments/${name}`} about={ID} csrfToken={csrfToken} />,
    },
  }))
  const typed = (name: string) => refusedField(flash, name)
  const form = {
    title: 'New environment',
    action: '/api/v1/environments',
    fields: (
      <>
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
          hint={
            <>
              Such as ghcr.io/you/harbor@sha256:…. With a digest, every start runs the same image; a tag can change. If
              it's private, save a <a href="/settings/developers#registries">registry login</a>.
            </>
          }
        />
      </>
    ),
    submit: 'Add environment',
  }
  const full = `You have ${MAX_OWN_ENVIRONMENTS} environments, the most an account can have.`
  return (
    <ListSection
      title="Build Your Own"
      id={ID}
      csrfToken={csrfToken}
      flash={flash}
      list={{ caption: 'Your environments', columns: COLUMNS, rows, none: 'No environments of your own yet.' }}
      form={included ? (environments.length < MAX_OWN_ENVIRONMENTS ? form : full) : null}
    >
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
    </ListSection>
  )
}
