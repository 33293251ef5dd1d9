import { AppError } from '../../src/domain/error.ts'
import { Cut, Lost } from '../../testing/world/wire.ts'

/** Something that must never be: the name of the rule, and what was seen. */
export class Broken extends Error {
  readonly rule: string
  constructor(rule: string, seen: string) {
    super(`${rule}: ${seen}`)
    this.rule = rule
  }
}

/** Whether a call failed because this world made it fail. */
export function isMishap(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) if (e instanceof Cut || e instanceof Lost) return true
  return false
}

export function causes(error: unknown): string {
  const messages: string[] = []
  for (let e = error; e instanceof Error; e = e.cause) messages.push(e.message)
  return messages.join(' ← ') || String(error)
}

export function unanswered(call: string): AppError {
  return new AppError('unavailable', 'No answer came.', { cause: new Lost(call), retryable: true })
}
