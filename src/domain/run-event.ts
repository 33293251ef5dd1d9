/** What happened to a run, where no other record says so. */
export type RunEventKind = 'end_set' | 'end_moved' | 'end_removed' | 'renamed' | 'warned'

/**
 * Who did it: the user on the site, one of their API tokens by name, the link in an email, their budget, a smaller
 * plan, or that nobody used it, or someone did again; or we.
 */
export type RunActor = 'site' | `token:${string}` | 'mail' | 'budget' | 'plan' | 'idle' | 'used' | 'us'
