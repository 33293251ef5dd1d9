import type { ComponentProps } from 'react'
import { directionOf } from '../../domain/person.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Outline } from '../../ui/Icon.tsx'
import { Bell, type BellProps } from './Bell.tsx'
import { FRAME_ICONS } from './frame-icons.ts'

/** The logo: a ridge with a drone above it. */
function Mark() {
  return (
    <svg
      width="26"
      height="26"
      viewBox="0 0 32 32"
      fill="none"
      stroke="currentColor"
      strokeWidth="2.5"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d="M2 27l8-11 5 6 5-8 10 13" />
      <path d="M9 6h14M16 6v4" strokeLinecap="round" />
    </svg>
  )
}

/** Beside the menu for visitors; on a phone, in it. */
const SITE_LINKS = [
  { href: '/pricing', label: 'Pricing' },
  { href: '/docs', label: 'Docs' },
]

type TopBarProps = {
  user: User | null
  path: string
  csrfToken: string | null
  bell: BellProps | null
  /** Whether they are signed in: then nothing is offered that depends on it. */
  unknown?: boolean
}

export function TopBar({ user, path, csrfToken, bell, unknown = false }: TopBarProps) {
  const siteLinks = SITE_LINKS.map(({ href, label }) => ({
    href,
    children: label,
    'aria-current': path === href ? ('page' as const) : path.startsWith(`${href}/`) || undefined,
  }))
  return (
    <header className="bar">
      <a className="brand" href="/">
        <Mark />
        <span>
          Proving Ground <small className="tagline">Simulate. Deploy. Win.</small>
        </span>
      </a>
      {user ? null : (
        <nav className="site" aria-label="Site">
          {siteLinks.map((link) => (
            <a key={link.href} {...link} />
          ))}
          {unknown ? null : <a href="/sign_in">Sign In</a>}
        </nav>
      )}
      {bell ? <Bell {...bell} /> : null}
      {unknown ? null : <Menu {...{ user, csrfToken, siteLinks }} />}
    </header>
  )
}

type MenuProps = Pick<TopBarProps, 'user' | 'csrfToken'> & { siteLinks: ComponentProps<'a'>[] }

function Menu({ user, csrfToken, siteLinks }: MenuProps) {
  return (
    <>
      <button type="button" className="btn menu-button" popoverTarget="menu">
        <span dir={user ? directionOf(user.name) : undefined}>
          {user ? `Hi ${user.name || user.email || 'there'}` : 'Interested?'}
        </span>
        <Outline path={FRAME_ICONS['chevron-down']} />
      </button>
      <nav id="menu" className="menu" popover="auto" aria-label={user ? 'Your account' : 'Sign up or sign in'}>
        {user ? (
          <>
            <a href="/dashboard">Dashboard</a>
            <a href="/account_overview">Account</a>
            {user.admin ? <a href="/console">Admin</a> : null}
            <form method="post" action="/users/sign_out">
              <HiddenFields csrfToken={csrfToken} method="delete" />
              <button type="submit">Sign Out</button>
            </form>
          </>
        ) : (
          <>
            <a href="/sign_up">Sign Up</a>
            <a href="/sign_in">Sign In</a>
            {siteLinks.map((link) => (
              <a key={link.href} className="in-bar" {...link} />
            ))}
          </>
        )}
      </nav>
    </>
  )
}
