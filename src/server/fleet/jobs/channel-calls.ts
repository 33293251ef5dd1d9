/** What the rest of the server may ask of a user's JobChannel object. */
export type JobChannelCalls = {
  /** Before anything is written: makes sure that the object looks at its jobs within 30 s, whatever happens to the caller. */
  arm(userId: string): Promise<void>
  /** After something was written: look at the jobs now. */
  wake(userId: string): Promise<void>
  /** From the sweep: look at the jobs now if no alarm will, or if nobody has looked for long. @param now the caller's clock */
  revive(userId: string, now: number): Promise<void>
  /** Closes the sockets of these sign-ins; of all with 'all'. */
  disconnect(signInIds: string[] | 'all'): Promise<void>
}
