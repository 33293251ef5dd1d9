export type BadgeColor = 'green' | 'gray' | 'yellow' | 'red' | 'dark'

/** A status: always a word, its color, and a dot whose shape differs with the color. */
export function Badge({ color, children }: { color: BadgeColor; children: string }) {
  return <span className={`badge badge-${color}`}>{children}</span>
}
