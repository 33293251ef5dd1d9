export type BadgeColour = 'green' | 'grey' | 'yellow' | 'red' | 'dark'

/** A status: always a word, its colour, and a dot whose shape differs with the colour. */
export function Badge({ colour, children }: { colour: BadgeColour; children: string }) {
  return <span className={`badge badge-${colour}`}>{children}</span>
}
