/** Checks whether something answers at an address; `code` says why not. */
export type Reach = (
  host: string,
  port: number,
) => Promise<{ status: 'reachable' } | { status: 'unreachable'; code: string }>
