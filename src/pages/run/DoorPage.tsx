import type { ReactNode } from 'react'
import { Contours } from '../landing/Contours.tsx'

export type DoorPageProps = { run: { id: string; name: string | null; isLive: boolean } }

/** A page about a server's door. The dashboard shows the marked part over itself. */
export function DoorPage({ run, title, children }: DoorPageProps & { title: string; children: ReactNode }) {
  return (
    <div className="page narrow stack">
      <h1>{title}</h1>
      <div className="card">
        <div className="stack" data-dialog>
          {run.isLive ? children : <p>This server has stopped. Its address ended with it, and so did every link.</p>}
        </div>
      </div>
      <p className="hint">
        <a href={`/servers/${run.id}`}>{run.name ? <bdi>{run.name}</bdi> : 'Back to the server'}</a>
      </p>
      <Contours />
    </div>
  )
}
