import type { Theme } from '../../ui/theme.ts'
import { ThemeSwitch } from './ThemeSwitch.tsx'

/** Help is in the same place on every page (WCAG 3.2.6). */
export function Footer(theme: { theme: Theme; csrfToken: string | null }) {
  return (
    <footer className="foot">
      <ul className="links">
        <li>
          <a href="/help">Help</a>
        </li>
        <li>
          <a href="/contact_sales">Contact sales</a>
        </li>
        <li>
          <a href="/docs">Documentation</a>
        </li>
        <li>
          <a href="/pricing">Pricing</a>
        </li>
        <li>
          <a href="/terms_of_service">Terms of Service</a>
        </li>
        <li>
          <a href="/status">Status</a>
        </li>
        <li>
          <a href="/privacy">Privacy</a>
        </li>
        <li>
          <a href="/security">Security</a>
        </li>
      </ul>
      <ThemeSwitch id="theme" {...theme} />
    </footer>
  )
}
