import type { ReactNode } from 'react'
import { FlashAlert, type FlashMessage } from '../../ui/FlashAlert.tsx'
import { Tabs } from '../layout/Tabs.tsx'

const LINKS = [
  { href: '/account_overview', label: 'Profile and security' },
  { href: '/settings/billing', label: 'Billing' },
  { href: '/settings/developers', label: 'Developers' },
  { href: '/settings/servers', label: 'Servers' },
] as const

type SettingsPageProps = {
  here: (typeof LINKS)[number]['href']
  title: string
  /** A page below this one. */
  isPart?: boolean
  /** Beside the title. */
  aside?: ReactNode
  /** Above everything: messages about the whole page. */
  flash?: FlashMessage | null
  children: ReactNode
}

/** The frame of all settings: one width, and tabs for the other three. */
export function SettingsPage({ here, title, isPart = false, aside, flash = null, children }: SettingsPageProps) {
  return (
    <div className="page settings stack">
      <Tabs label="Settings" links={LINKS} here={here} isPart={isPart} />
      <div className="page-head">
        <h1>{title}</h1>
        {aside}
      </div>
      <FlashAlert flash={flash} />
      {children}
    </div>
  )
}

/** The message about a section's own form: each form sends its section's ID as `about`. */
export const flashAbout = (flash: FlashMessage | null, id: string) => (flash?.values?.about === id ? flash : null)
