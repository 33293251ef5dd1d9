import { Badge } from '../../ui/Badge.tsx'
import { Section } from './Section.tsx'

export function Resources() {
  return (
    <Section id="resources" label="Resources" title="Learn more">
      <ul className="resources">
        <li>
          <h3>Documentation</h3>
          <p className="muted">Your first server in five minutes: by browser, curl, command line, or CI.</p>
          <p className="row">
            <a href="/docs">Quickstart</a>
            <a href="/docs/api">API</a>
            <a href="/docs/billing">How billing works</a>
          </p>
        </li>
        <li>
          <h3>About</h3>
          <p className="muted">We rent simulation servers to teams that build autonomous drones and ground vehicles.</p>
          <p className="row">
            <a href="/contact_sales">Contact us</a>
          </p>
        </li>
        <li>
          <h3>Developer Pro</h3>
          <p className="muted">A plan for developers who build on our API.</p>
          <p>
            <Badge color="yellow">Coming soon</Badge>
          </p>
        </li>
      </ul>
    </Section>
  )
}
