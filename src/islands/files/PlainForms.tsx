import { inText } from '../../domain/file-names.ts'
import { sizeText } from '../../domain/files.ts'
import type { FolderSize } from '../../domain/wire/files.ts'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { linkToFile, pageOfFolder } from './entries.ts'

/** The file or folder that someone wants to delete from this folder. `size` null: a file. */
export type PlainQuestion = { path: string; folder: string; size: FolderSize | null }

/** The same question without script, as part of the page. */
export function PlainForms({ question: { path, folder, size }, csrfToken }: Props) {
  return (
    <Card title={`Delete ${inText(path.slice(folder.length))}?`} id="question">
      <form className="stack" method="post" action={linkToFile(path, path === folder)}>
        <HiddenFields csrfToken={csrfToken} method="delete" />
        <p>{deleteWords(size)}</p>
        <div className="row">
          <Button type="submit" look="danger">
            Delete
          </Button>
          <ButtonLink href={pageOfFolder(folder)}>Cancel</ButtonLink>
        </div>
      </form>
    </Card>
  )
}

type Props = { question: PlainQuestion; csrfToken: string }

/** What will be deleted, before anyone says yes. */
export function deleteWords(size: FolderSize | null): string {
  if (!size) return 'You can’t undo this.'
  const count = size.files.toLocaleString('en-US')
  if (!size.complete)
    return `It has more than ${count} files, and more than ${sizeText(size.bytes)}. You can’t undo this.`
  return size.files === 1
    ? `It has 1 file, ${sizeText(size.bytes)}. You can’t undo this.`
    : `It has ${count} files, ${sizeText(size.bytes)} in all. You can’t undo this.`
}
