import { Tabs } from '../layout/Tabs.tsx'

const LINKS = [
  { href: '/console', label: 'Instances' },
  { href: '/console/messages', label: 'Messages' },
  { href: '/admin/people', label: 'People' },
  { href: '/admin/places', label: 'Places' },
  { href: '/admin/line', label: 'Line' },
  { href: '/admin/environments', label: 'Environments' },
  { href: '/admin/drift', label: 'Drift' },
  { href: '/admin/audit', label: 'Audit log' },
] as const

export function ConsoleTabs({ here }: { here: (typeof LINKS)[number]['href'] | null }) {
  return <Tabs label="Console" links={LINKS} here={here} />
}
