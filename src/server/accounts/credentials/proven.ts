import type { SQL } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import type { AppError } from '../../../domain/error.ts'

/**
 * A proof that was right when we checked it. The act's own write requires that it still is, and uses up the code. A
 * refused act doesn't.
 */
export type Proven = {
  /** An SQL condition: the password hasn't changed since, and the code is still unused. */
  holds: SQL
  /** Part of the act's batch, after it. @param done an SQL condition: the act happened */
  spendQueries: (done: SQL) => Query[]
  /** The error for an act that was refused only because `holds` no longer held. */
  lapsed: () => AppError
}

/** A proof without the words for refusing it. */
export type Checked = Omit<Proven, 'lapsed'>
