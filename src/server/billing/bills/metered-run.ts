import { getTableColumns } from 'drizzle-orm'
import { type RunRow, runs } from '../../../../db/schema/fleet.ts'

/** A run as money needs it: without the texts that customers may write, up to 25 KB of them. */
export type MeteredRun = Omit<RunRow, 'command' | 'parameters' | 'secrets' | 'errorMessage' | 'pull'>

const { command, parameters, secrets, errorMessage, pull, ...columns } = getTableColumns(runs)

/** An account's runs of a cycle must fit into one answer of libSQL, which has 10 MB. */
export const meteredColumns = columns
