export type BadgeColor = 'green' | 'gray' | 'yellow' | 'red' | 'dark'

/** A status: a word, its color, and a dot with a different shape for each color. */
export function Badge({ color, children }: { color: BadgeColor; children: string }) {
  return <span className={`badge badge-${color}`}>{children}</span>
}
