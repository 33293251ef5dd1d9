import { inText } from '../../domain/files.ts'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Field } from '../../ui/Field.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { pageOfFolder, pathIn } from './entries.ts'

export type PlainQuestion = { act: 'delete' | 'rename'; name: string }

type Props = { question: PlainQuestion; path: string; csrfToken: string }

export const DELETE_WORDS = 'You can undo this for 7 days.'

/** The questions of a browser without script, as part of the page. */
export function PlainForms({ question: { act, name }, path, csrfToken }: Props) {
  const here = pathIn(path, name)
  const keep = <ButtonLink href={pageOfFolder(path)}>Cancel</ButtonLink>
  if (act === 'delete')
    return (
      <Card title={`Delete ${inText(name)}?`} id="question">
        <form className="stack" method="post" action={`/api/v1/files?path=${encodeURIComponent(here)}`}>
          <HiddenFields csrfToken={csrfToken} method="delete" />
          <p>{DELETE_WORDS}</p>
          <div className="row">
            <Button type="submit" look="danger">
              Delete
            </Button>
            {keep}
          </div>
        </form>
      </Card>
    )
  return (
    <Card title={`Rename ${inText(name)}`} id="question">
      <form className="stack form-narrow" method="post" action={`/api/v1/files/moves?in=${encodeURIComponent(path)}`}>
        <HiddenFields csrfToken={csrfToken} values={{ path: here }} />
        <Field name="to" label="New name" defaultValue={name} dir="auto" autoComplete="off" required />
        <div className="row">
          <Button type="submit" look="primary">
            Rename
          </Button>
          {keep}
        </div>
      </form>
    </Card>
  )
}
