import type { VendorError } from '../../domain/instance.ts'

/**
 * Writes one line of JSON for the operator. The fields hold ids (of a request, a job, an invoice), never
 * personal data: no address, no name, no parameter of a statement.
 * @param error logged with all its causes, including the vendor's own words, code and request id
 */
export type Log = (event: string, fields?: LogFields, error?: unknown) => void
export type LogFields = Record<string, unknown>

export function openLog(write: (line: string) => void): Log {
  return (event, fields = {}, error) =>
    write(JSON.stringify({ event, ...fields, ...(error === undefined ? {} : { error: causesOf(error) }) }))
}

/** The Worker's only way out to the console. Verbs use the one in their context, which is bound to their work. */
export const log = openLog((line) => console.error(line))

/**
 * The same log for a request, a trigger or a job: each line carries these fields, so that you can trace it
 * back.
 */
export function bindLog(log: Log, bound: LogFields): Log {
  return (event, fields, error) => log(event, { ...bound, ...fields }, error)
}

type Cause = { message: string; code?: string; requestId?: string; status?: number; stack?: string }

const MOST_CAUSES = 8

function causesOf(error: unknown): Cause[] {
  const causes: Cause[] = []
  for (let e = error; e !== undefined && e !== null && causes.length < MOST_CAUSES; e = causeOf(e))
    causes.push(toCause(e))
  return causes
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}

function toCause(error: unknown): Cause {
  if (!(error instanceof Error)) return { message: withoutAddresses(String(error)) }
  const { message, stack } = withoutParameters(error)
  const { code, requestId, status } = vendorDetails(error)
  return {
    message: withoutAddresses(message),
    ...(code ? { code } : {}),
    ...(requestId ? { requestId } : {}),
    ...(status ? { status } : {}),
    ...(stack ? { stack } : {}),
  }
}

/** The first cause with a vendor's code or request id, for people who can ask the vendor: admins. */
export function vendorErrorOf(error: unknown): VendorError {
  const found = causesOf(error).find(({ code, requestId }) => code || requestId)
  return found ? { vendor_code: found.code, vendor_request_id: found.requestId } : {}
}

/** Details that AWS, Stripe and libSQL put beside the message, each in its own place. */
function vendorDetails(error: Error) {
  const of = error as Partial<{
    code: unknown
    requestId: unknown
    statusCode: unknown
    $metadata: { requestId?: unknown; httpStatusCode?: unknown }
  }>
  const isAws = of.$metadata !== undefined
  return {
    code: text(isAws ? error.name : of.code),
    requestId: text(isAws ? of.$metadata?.requestId : of.requestId),
    status: Number((isAws ? of.$metadata?.httpStatusCode : of.statusCode) ?? 0) || undefined,
  }
}

const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined)

/**
 * drizzle puts a failed statement's parameters (password hashes, addresses, devices) into its message, and so
 * into its stack.
 */
function withoutParameters(error: Error): { message: string; stack: string | undefined } {
  if (!('params' in error && 'query' in error)) return { message: error.message, stack: framesOf(error) }
  return { message: `Failed query: ${String(error.query)}`, stack: framesOf(error) }
}

/** Vendors quote email addresses in their messages. */
function withoutAddresses(message: string): string {
  return message.replace(/[^\s<>()"'`,;:=&]{1,64}(@|%40)[^\s<>()"'`,;:=&@]{1,254}\.[\p{L}\d-]{2,}/giu, '[address]')
}

/** The stack's lines without the message above them. */
function framesOf(error: Error): string | undefined {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return frames.length ? frames.map((line) => line.trim()).join('\n') : undefined
}
