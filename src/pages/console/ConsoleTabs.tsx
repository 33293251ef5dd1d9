const TABS = [
  { href: '/console', label: 'Instances' },
  { href: '/console/messages', label: 'Messages' },
  { href: '/admin/people', label: 'People' },
  { href: '/admin/places', label: 'Places' },
  { href: '/admin/line', label: 'Line' },
  { href: '/admin/environments', label: 'Environments' },
  { href: '/admin/drift', label: 'Drift' },
  { href: '/admin/audit', label: 'Audit log' },
] as const

export function ConsoleTabs({ here }: { here: (typeof TABS)[number]['href'] | null }) {
  return (
    <nav aria-label="Console" className="tabs">
      {TABS.map(({ href, label }) => (
        <a key={href} href={href} aria-current={href === here ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  )
}
