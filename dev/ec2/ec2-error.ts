/** EC2's error answer: a code for programs, a sentence for people. */
export class Ec2Error extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.name = 'Ec2Error'
    this.code = code
  }
}

// AWS documents every other code as a client error, 400.
const statuses: Record<string, number> = {
  AuthFailure: 401,
  Blocked: 403,
  OptInRequired: 403,
  PendingVerification: 403,
  UnauthorizedOperation: 403,
  DryRunOperation: 412,
  InternalError: 500,
  InternalFailure: 500,
  RequestLimitExceeded: 503,
  ServerInternal: 500,
  ServiceUnavailable: 503,
  Unavailable: 503,
}

/** HTTP status of an error code. AWS makes capacity errors server errors, so SDKs retry them by default. */
export function httpStatus(code: string): number {
  return statuses[code] ?? (/^Insufficient\w*Capacity$/.test(code) ? 500 : 400)
}

const sentences: Record<string, string> = {
  InsufficientInstanceCapacity:
    'We currently do not have sufficient capacity in the Availability Zone you requested. Our system will be working on provisioning additional capacity.',
  RequestLimitExceeded: 'Request limit exceeded.',
  UnauthorizedOperation: 'You are not authorized to perform this operation.',
  InternalError: 'An internal error has occurred',
  InstanceLimitExceeded: 'You have requested more instances than your current instance limit allows.',
  VcpuLimitExceeded: 'You have requested more vCPU capacity than your current vCPU limit allows.',
}

/** The error for an injected fault code. */
export function injectedError(code: string): Ec2Error {
  return new Ec2Error(code, sentences[code] ?? `Injected fault ${code}.`)
}
