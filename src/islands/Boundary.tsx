import { Component, type ReactNode } from 'react'
import { Button } from '../ui/Button.tsx'

/** Wraps each island, and what it loads later. If something fails, it says so, and the rest of the page stays as it is. */
export class Boundary extends Component<{ children: ReactNode }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    return this.state.failed ? <PartFailed /> : this.props.children
  }
}

/** The file may be gone because a newer version replaced it. */
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
