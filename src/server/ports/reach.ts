/** What a simulator answers to `GET /status`: null unless that is 200, small, and quick. */
export type AskStatus = (host: string, port: number) => Promise<string | null>

/** Checks whether something answers at an address; `code` says why not. */
export type Reach = (
  host: string,
  port: number,
) => Promise<{ status: 'reachable' } | { status: 'unreachable'; code: string }>
