import { Outline } from '../../ui/Icon.tsx'
import type { Theme } from '../../ui/theme.ts'
import { FRAME_ICONS, type FrameIcon } from './frame-icons.ts'
import { ThemeSwitch } from './ThemeSwitch.tsx'

type Link = {
  href: string
  label: string
  icon: FrameIcon
  /** Pages that you reach from there. */
  parts?: string[]
}

const LINKS: Link[] = [
  { href: '/dashboard', label: 'Dashboard', icon: 'gauge' },
  { href: '/servers', label: 'Servers', icon: 'server' },
  { href: '/files', label: 'Files', icon: 'folder' },
  { href: '/billing_history', label: 'Billing', icon: 'receipt' },
  { href: '/docs', label: 'Docs', icon: 'book' },
  {
    href: '/account_overview',
    label: 'Settings',
    icon: 'settings',
    parts: [
      '/settings',
      '/account_security',
      '/activity',
      '/devices',
      '/api_tokens',
      '/webhooks',
      '/activate',
      '/mails',
      '/close_account',
    ],
  },
]

/** For admins. On a phone, the bar has no room for it: the menu has it. */
const CONSOLE: Link = { href: '/console', label: 'Console', icon: 'terminal', parts: ['/admin'] }

function current({ href, parts }: Link, here: string): 'page' | 'true' | undefined {
  if (here === href) return 'page'
  const isIn = (page: string) => here === page || here.startsWith(`${page}/`)
  return isIn(href) || parts?.some(isIn) ? 'true' : undefined
}

/** A rail on the left; under 800 px, a bar at the bottom. */
export function Sidebar({
  path,
  hasFiles,
  isAdmin,
  ...theme
}: {
  path: string
  /** Whether this site keeps files. */
  hasFiles: boolean
  isAdmin: boolean
  theme: Theme
  csrfToken: string | null
}) {
  const here = path.split('?')[0] ?? path
  const links = [...LINKS.filter(({ href }) => hasFiles || href !== '/files'), ...(isAdmin ? [CONSOLE] : [])]
  return (
    <div className="rail">
      <nav aria-label="Main">
        <ul className="links">
          {links.map((link) => (
            <li key={link.href}>
              <a href={link.href} aria-current={current(link, here)}>
                <Outline path={FRAME_ICONS[link.icon]} size={18} />
                {link.label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <ThemeSwitch {...theme} />
    </div>
  )
}
