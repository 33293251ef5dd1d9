import { type ComponentType, useEffect, useState } from 'react'
import { PartFailed } from './Boundary.tsx'

/** A part of the page that loads when needed: null until then, and a message if it can't be loaded. */
export function usePart<Props>(
  load: () => Promise<ComponentType<Props>>,
  needed: boolean,
): ComponentType<Props> | null {
  const [part, setPart] = useState<ComponentType<Props> | null>(null)
  useEffect(() => {
    if (needed)
      void load()
        .catch(() => PartFailed)
        .then((loaded) => setPart(() => loaded))
  }, [needed])
  return part
}
