/** What happened to a run, if no other record says so. */
export type RunEventKind = 'end_set' | 'end_moved' | 'end_removed' | 'renamed' | 'warned'

/**
 * Who did it: the user on the site, one of their API tokens by name, the link in an email, their budget, a smaller
 * plan, an idle server or its renewed use, or us.
 */
export type RunActor = 'site' | `token:${string}` | 'mail' | 'budget' | 'plan' | 'idle' | 'used' | 'us'
