/**
 * Every call that leaves the program goes through one of these, so that a test can count it, lose it, or cut off the
 * program there.
 */
export type Wire = <T>(call: string, effect: () => Promise<T>) => Promise<T>

/** The program was killed here. What is left of it reaches nothing. */
export class Cut extends Error {}

/** The call failed for a passing reason, with or without its effect. */
export class Lost extends Error {}

export type Mishap = 'cut before' | 'cut after' | 'lost before' | 'lost after'

/**
 * Database reads. Being killed there equals being killed at the change before, and nothing is decided without an
 * answer.
 */
export const isSelect = (call: string) => /^db: select/i.test(call)

/** Calls that change nothing outside. */
export const isRead = (call: string) => isSelect(call) || /^(ec2: (find|list)|reach|log: tail)/.test(call)

/** Counts the calls that `counts` selects, and applies the mishap to the n-th (from 1). */
export function wireWithMishap(mishap: Mishap, n: number, counts: (call: string) => boolean) {
  const calls: string[] = []
  const wire: Wire = async (call, effect) => {
    if (!counts(call)) return effect()
    calls.push(call)
    if (calls.length !== n) return effect()
    const Thrown = mishap.startsWith('cut') ? Cut : Lost
    if (mishap.endsWith('after')) await effect()
    throw new Thrown(`${mishap} call ${n}: ${call}`)
  }
  return { wire, calls }
}
