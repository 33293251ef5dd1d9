import { Files, type FilesProps } from '../islands/Files.tsx'
import { Island } from './Island.tsx'

/** Someone's files. */
export function FilesPage(props: FilesProps) {
  return (
    <div className="page files-page">
      <Island name="Files" of={Files} props={props} />
    </div>
  )
}
