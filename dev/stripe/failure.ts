/** An error in Stripe's format: `{"error": {type, message, code, param}}`. */
export class Failure extends Error {
  readonly status: number
  readonly body: { error: { type: string; message: string; code?: string; param?: string } }

  constructor(status: number, type: string, message: string, more: { code?: string; param?: string } = {}) {
    super(message)
    this.status = status
    this.body = { error: { type, message, ...more } }
  }
}

export function invalid(message: string, param?: string): Failure {
  return new Failure(400, 'invalid_request_error', message, param ? { param } : {})
}

export function missing(param: string): Failure {
  return new Failure(400, 'invalid_request_error', `Missing required param: ${param}.`, {
    code: 'parameter_missing',
    param,
  })
}

/** @param param the one that names it; `id`: the address does */
export function noSuch(what: string, id: string, param = 'id'): Failure {
  return new Failure(param === 'id' ? 404 : 400, 'invalid_request_error', `No such ${what}: '${id}'`, {
    code: 'resource_missing',
    param,
  })
}
