/** What a check found, in one line: a fact if it passed, otherwise what is wrong and what to do. */
export type Finding = { state: 'ok' | 'fail' | 'skip'; check: string; says: string }

export const ok = (check: string, says: string): Finding => ({ state: 'ok', check, says })
export const fail = (check: string, says: string): Finding => ({ state: 'fail', check, says })
/** We can't check it yet; the sentence says when. */
export const skip = (check: string, says: string): Finding => ({ state: 'skip', check, says })

export const summary = (failed: number): string =>
  failed ? `\n${failed} ${failed === 1 ? 'check fails' : 'checks fail'}.` : '\nAll checks pass.'
