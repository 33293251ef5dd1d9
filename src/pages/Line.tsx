import { Line as LineIsland, type LineProps } from '../islands/Line.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { Island } from './Island.tsx'

/** Where people wait for a server while all are reserved. */
export function Line({ flash, ...props }: LineProps & { flash: FlashMessage | null }) {
  return (
    <div className="page stack line-page">
      <div className="page-head">
        <h1>Line</h1>
      </div>
      <FlashAlert flash={flash} />
      <p>When all servers are reserved, the next one that becomes free goes to the next in line.</p>
      <Island name="Line" of={LineIsland} props={props} />
    </div>
  )
}
