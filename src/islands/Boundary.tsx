import { Component, type ReactNode } from 'react'
import { Button } from '../ui/Button.tsx'

/** Around each island, and around what it loads later. What fails says so; the rest of the page stays as it is. */
export class Boundary extends Component<{ children: ReactNode }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    return this.state.failed ? <PartFailed /> : this.props.children
  }
}

/** Perhaps it isn't there anymore, because a new version replaced it. */
export function PartFailed() {
  return (
    <div className="alert alert-danger" role="alert">
      <p>This part of the page couldn't be loaded. Reload the page to use it.</p>
      <Button small onClick={() => location.reload()}>
        Reload
      </Button>
    </div>
  )
}
