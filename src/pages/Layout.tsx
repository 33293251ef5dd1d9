import type { ReactNode } from 'react'
import { unreadText } from '../domain/notice.ts'
import type { User } from '../domain/wire/accounts.ts'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { Spinner } from '../ui/States.tsx'
import { colorMedia, THEME_COLORS, type Theme } from '../ui/theme.ts'
import { HasFactor, HasPasskey, SignedInAs } from './account/Username.tsx'
import { bootstrapJson } from './bootstrap-json.ts'
import { type AccountIssue, AccountNotice, type Overdue } from './layout/AccountNotice.tsx'
import type { BellProps } from './layout/Bell.tsx'
import { type Ending, EndingBanner } from './layout/EndingBanner.tsx'
import { Footer } from './layout/Footer.tsx'
import { Sidebar } from './layout/Sidebar.tsx'
import { TopBar } from './layout/TopBar.tsx'

const LISTS_INVOICES = new Set(['/billing_history', '/settings/billing'])

export type LayoutProps = {
  user: User | null
  /** Whether changes to their account ask for a second factor. */
  hasFactor?: boolean
  hasPasskey?: boolean
  /** What keeps the user from starting servers. */
  notice?: AccountIssue | null
  overdue?: Overdue | null
  /** They may be signed in, but we couldn't find out: the bar offers neither the one nor the other. */
  unknown?: boolean
  /** Null for visitors. */
  bell?: BellProps | null
  /** Their server stops in a few minutes. The dashboard says so on its own. */
  ending?: Ending | null
  /** Path and query of the request: marks the current link. */
  path: string
  title: string
  description?: string
  /** Scheme and host, e.g. https://proving.example: canonical and Open Graph addresses are absolute. */
  origin: string
  /** Null on a page that is the same for everyone: its forms have no token. */
  csrfToken: string | null
  /** The choice in the cookie. Null: use the system's theme. */
  theme: Theme | null
  /** The previous page's message, if this page doesn't show it itself. */
  flash?: FlashMessage | null
  /** `next`: the style sheet of the pages that probably come next. */
  assets: { styles: string[]; scripts: string[]; next?: string }
  /** Goes into the bootstrap block beside the user. */
  bootstrap?: Record<string, unknown>
  /** Whether this site keeps files. */
  hasFiles: boolean
  /** Shows the title without the product's name. */
  titleAlone?: boolean
  /** For pages that search engines should not index and nobody can share. */
  noIndex?: boolean
  children: ReactNode
}

const TAGLINE = 'GPU simulation servers for drones and ground vehicles. Start one with a click and pay by the second.'

/** The whole document, without its doctype. */
export function Layout({ user, path, title, description = TAGLINE, origin, csrfToken, assets, ...rest }: LayoutProps) {
  const theme = rest.theme ?? 'system'
  const named = path === '/' ? `Proving Ground: ${title}` : `${title} · Proving Ground`
  const page = path.split('?')[0] ?? '/'
  const address = origin + page
  const switcher = { theme, csrfToken }
  return (
    <html lang="en" data-theme={theme} data-next={assets.next} className={user ? 'signed-in' : undefined}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>
          {(rest.bell?.unread ? `(${unreadText(rest.bell.unread)}) ` : '') + (rest.titleAlone ? title : named)}
        </title>
        <meta name="description" content={description} />
        {rest.noIndex ? <meta name="robots" content="noindex" /> : <link rel="canonical" href={address} />}
        {/* With a precedence, React puts it before everything that can wait. */}
        {assets.styles.map((href) => (
          <link key={href} rel="stylesheet" href={href} precedence="default" />
        ))}
        {assets.scripts.map((src) => (
          <script key={src} type="module" async src={src} />
        ))}
        {csrfToken ? <meta name="csrf-token" content={csrfToken} /> : null}
        {user ? <meta name="cable-url" content="/cable" /> : null}
        {THEME_COLORS.map(({ of, color }) => (
          <meta key={of} name="theme-color" content={color} media={colorMedia(of, theme)} />
        ))}
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
        <link rel="manifest" href="/manifest.webmanifest" />
        {rest.noIndex ? null : (
          <>
            <meta property="og:type" content="website" />
            <meta property="og:site_name" content="Proving Ground" />
            <meta property="og:title" content={title} />
            <meta property="og:description" content={description} />
            <meta property="og:url" content={address} />
            <meta property="og:image" content={`${origin}/og.png`} />
            <meta name="twitter:card" content="summary_large_image" />
          </>
        )}
      </head>
      <body>
        <a className="skip" href="#main">
          Skip to content
        </a>
        <TopBar
          user={user}
          path={page}
          csrfToken={csrfToken}
          bell={rest.bell ?? null}
          unknown={rest.unknown ?? false}
        />
        {user ? <Sidebar path={path} hasFiles={rest.hasFiles} isAdmin={user.admin} {...switcher} /> : null}
        <main id="main" tabIndex={-1}>
          {user ? (
            <div id="ending">
              {rest.ending && page !== '/dashboard' ? (
                <EndingBanner ending={rest.ending} csrfToken={csrfToken} />
              ) : null}
            </div>
          ) : null}
          {rest.notice ? (
            <AccountNotice issue={rest.notice} overdue={rest.overdue ?? null} links={!LISTS_INVOICES.has(page)} />
          ) : null}
          {rest.flash ? (
            <div className="page page-flash">
              <FlashAlert flash={rest.flash} />
            </div>
          ) : null}
          <SignedInAs value={user?.email ?? null}>
            <HasFactor value={rest.hasFactor ?? false}>
              <HasPasskey value={rest.hasPasskey ?? false}>{rest.children}</HasPasskey>
            </HasFactor>
          </SignedInAs>
        </main>
        <Footer {...switcher} />
        <div id="live" className="visually-hidden" role="status" />
        <SessionCheck />
        <script
          id="bootstrap"
          type="application/json"
          dangerouslySetInnerHTML={{ __html: bootstrapJson({ user, ...rest.bootstrap }) }}
        />
      </body>
    </html>
  )
}

/** Covers the app while the client checks the session again. Hidden at first, because the server has just checked. */
function SessionCheck() {
  return (
    <div id="session-check" className="veil" role="status" hidden>
      <Spinner label="Checking your session…" />
    </div>
  )
}
