import { inText } from '../../domain/file-names.ts'
import type { FileList } from '../../domain/wire/files.ts'
import { Alert } from '../../ui/Alert.tsx'

/** Folders whose files are still being deleted. */
export function Going({ deleting }: Pick<FileList, 'deleting'>) {
  if (deleting.length === 0) return null
  return (
    <Alert kind="info">
      {deleting.map(({ path, files_left }) => (
        <p key={path}>
          {path === '' ? 'Deleting all of your files' : `Deleting ${inText(path)}`}
          {files_left > 0 ? `: ${filesText(files_left)}${files_left >= MOST ? ' or more' : ''} left.` : '.'}
        </p>
      ))}
    </Alert>
  )
}

/** We count ahead, but no further than this. */
const MOST = 4000

function filesText(count: number): string {
  return count === 1 ? '1 file' : `${count.toLocaleString('en-US')} files`
}
