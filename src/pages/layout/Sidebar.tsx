import { Outline } from '../parts/Icon.tsx'
import { FRAME_ICONS, type FrameIcon } from './frame-icons.ts'
import { type Theme, ThemeSwitch } from './ThemeSwitch.tsx'

const LINKS: { href: string; label: string; icon: FrameIcon }[] = [
  { href: '/dashboard', label: 'Dashboard', icon: 'gauge' },
  { href: '/billing_history', label: 'Billing', icon: 'receipt' },
  { href: '/account_overview', label: 'Settings', icon: 'settings' },
]

/** A rail at the left; under 800 px a bar at the bottom. */
export function Sidebar({ path, ...theme }: { path: string; theme: Theme; csrfToken: string | null }) {
  const here = path.split('?')[0]
  return (
    <div className="rail">
      <nav aria-label="Main">
        <ul className="links">
          {LINKS.map(({ href, label, icon }) => (
            <li key={href}>
              <a href={href} aria-current={href === here ? 'page' : undefined}>
                <Outline path={FRAME_ICONS[icon]} size={18} />
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <ThemeSwitch {...theme} />
    </div>
  )
}
