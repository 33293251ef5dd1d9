import type { ReactNode } from 'react'
import { FormPage } from '../account/FormPage.tsx'

export type DoorPageProps = { run: { id: string; name: string | null; isLive: boolean } }

/** A page about a server's door. The dashboard shows the marked part over itself. */
export function DoorPage({ run, title, children }: DoorPageProps & { title: string; children: ReactNode }) {
  return (
    <FormPage
      title={title}
      foot={<a href={`/servers/${run.id}`}>{run.name ? <bdi>{run.name}</bdi> : 'Back to the server'}</a>}
    >
      <div className="stack" data-dialog>
        {run.isLive ? children : <p>This server has stopped. Its address ended with it, and so did every link.</p>}
      </div>
    </FormPage>
  )
}
