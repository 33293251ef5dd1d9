const TABS = [
  { href: '/console', label: 'Instances' },
  { href: '/console/messages', label: 'Messages' },
] as const

export function ConsoleTabs({ here }: { here: (typeof TABS)[number]['href'] }) {
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
