type TabsProps<Href extends string> = {
  label: string
  links: readonly { href: Href; label: string }[]
  here: Href | null
  /** For a page below the current link. */
  isPart?: boolean
}

/** The pages of one part of the site. */
export function Tabs<Href extends string>({ label, links, here, isPart = false }: TabsProps<Href>) {
  return (
    <nav aria-label={label} className="tabs">
      {links.map((link) => (
        <a key={link.href} href={link.href} aria-current={link.href === here ? (isPart ? 'true' : 'page') : undefined}>
          {link.label}
        </a>
      ))}
    </nav>
  )
}
