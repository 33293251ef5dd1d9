import type { SQL } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import type { AppError } from '../../../domain/error.ts'

/** What was right when we checked. The act's own write requires that it still is, and uses the code up: a refused act doesn't. */
export type Proven = {
  /** An SQL condition: the password hasn't changed since, and nobody used the code. */
  holds: SQL
  /** Part of the act's batch, after it. @param done an SQL condition: the act happened */
  spendQueries: (done: SQL) => Query[]
  /** Why an act was refused, where nothing but `holds` can have failed. */
  lapsed: () => AppError
}

/** Before it is known in which words to refuse. */
export type Checked = Omit<Proven, 'lapsed'>
